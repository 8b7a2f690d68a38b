import { createRequestLimit, type RequestLimit } from "../../client/request-limit.ts";
import { HoldfastError } from "../../core/errors.ts";
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

/** What all connections to the control plane of a target share; null for no limit. */
export function limitOf(
  choice: TargetChoice | null,
  { limits, invocation }: { readonly limits: Map<string, RequestLimit>; readonly invocation: Invocation },
): RequestLimit | null {
  if (!choice?.limits) return null;
  const { name } = choice.limits;
  const limit = limits.get(name) ?? createRequestLimit(choice.limits, invocation.terminal.clock);
  limits.set(name, limit);
  return limit;
}
