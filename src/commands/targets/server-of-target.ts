import { createRequestLimit, ownTurns, type RequestLimit } from "../../client/request-limit.ts";
import { errorMessage } from "../../contract/error-message.ts";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { RequestLimits } from "../../core/request-shares.ts";
import { runWarning } from "../../core/run-warning.ts";
import type { Invocation } from "../command.ts";
import type { TargetChoice } from "./choose-targets.ts";

/**
 * The flags of a command, as they are for one target. The token and CA files beside the server's address belong to that
 * server, so a flag for another server does not replace it.
 */
export function invocationFor({ name, server, tokenFile, caFile }: TargetChoice, invocation: Invocation): Invocation {
  const { flags } = invocation;
  const isOther = flags.embedded || (flags.server !== undefined && flags.server !== server);
  if (server !== null && isOther) {
    throw new HoldfastError(
      "invalid",
      `target ${name} has a server of its own, and a flag or HOLDFAST_SERVER names another`,
      {
        hint: "leave --server and --embedded out",
      },
    );
  }
  const { tokenFile: _, ...others } = flags;
  return {
    ...invocation,
    flags: { ...(tokenFile === null ? flags : others), ...(caFile === null ? {} : { caFile }) },
  };
}

/** The operator keys that a target replaces. */
export function operatorKeysOf(choice: TargetChoice | null): { readonly server?: string; readonly tokenFile?: string } {
  const { server = null, tokenFile = null } = choice ?? {};
  return { ...(server === null ? {} : { server }), ...(tokenFile === null ? {} : { tokenFile }) };
}

/** The control plane of a target as the ledger names it: by its address, or `embedded`. */
export function serverNameOf(
  choice: TargetChoice | null,
  { server }: { readonly server?: string },
  { flags }: Pick<Invocation, "flags">,
): string {
  return (choice?.server ?? flags.server ?? server)?.replace(/\/+$/, "") ?? "embedded";
}

/** Returns the limit that all connections to a control plane share, by its name in `servers` and its address. */
export type ServerLimits = (server: RequestLimits & { readonly name: string; readonly url: string }) => RequestLimit;

/** The limits of control planes: those of this process, or those that the processes of a fleet keep together. */
export async function serverLimits(
  database: Secret | null,
  { flags, terminal }: Invocation,
  resources: AsyncDisposableStack,
): Promise<ServerLimits> {
  const { clock, random } = terminal;
  const limits = new Map<string, RequestLimit>();
  const create = await createLimits();
  return (server) => {
    const limit = limits.get(server.name) ?? create(server);
    limits.set(server.name, limit);
    return limit;
  };

  async function createLimits(): Promise<ServerLimits> {
    if (database === null || flags.workers === undefined)
      return (server) => createRequestLimit(ownTurns(server, clock));
    // Loaded here, so that other commands do not load it.
    const { openFleetLimits } = await import("../../daemon/fleet-limits.ts");
    const onTrouble = (error: unknown): void =>
      terminal.warnings.add(runWarning("no-limits", `the limits of the fleet: ${errorMessage(error)}`));
    const fleet = resources.use(openFleetLimits({ address: database, process: random.id(), clock, onTrouble }));
    // Another configuration in the same database may give the name to another control plane.
    return ({ name, url, ...server }) => fleet.limit(`${name} ${url.replace(/\/+$/, "")}`, server);
  }
}

/** What all connections to the control plane of a target share; null for no limit. */
export function limitOf(
  choice: TargetChoice | null,
  { limits }: { readonly limits: ServerLimits },
): RequestLimit | null {
  return choice?.limits ? limits(choice.limits) : null;
}
