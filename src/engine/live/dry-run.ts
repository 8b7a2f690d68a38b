import PQueue from "p-queue";
import { ClientError } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import type { Deployment } from "../../contract/generated/resources.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Kind, tryReadRow } from "../../core/kind.ts";
import type { Manifest } from "../../core/manifest.ts";
import type { DryRunProof } from "../../state/server-facts.ts";
import type { KnownServer } from "../known-server.ts";
import { hasContentOf } from "../write/verify-write.ts";

/** A dry run with the reply itself, from which ids are read. */
export type DryRunResult =
  | (Extract<DryRunReply, { state: "answered" }> & { readonly reply: unknown })
  | Exclude<DryRunReply, { state: "answered" }>
  | { readonly state: "impossible" };

/** Asks what a write would do, by `dryRun`. */
export type DryRun = (kind: Kind, manifest: Manifest, options: { signal: AbortSignal }) => Promise<DryRunResult>;

/** What dry runs need of their surroundings. */
export type DryRunContext = {
  readonly reader: Reader;
  readonly serverFacts: KnownServer;
  /** Stores what was learned of the server. */
  readonly saveServerFacts: () => Promise<void>;
  readonly concurrency: number;
  readonly shapeOf: (type: string) => Shape;
};

type Asked = {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
};

/**
 * Dry runs against one server. Until a dryRun has been shown to change nothing they go one at a time; a server that
 * ignores `dryRun` is never asked again.
 */
export function createDryRun({ reader, serverFacts, saveServerFacts, concurrency, shapeOf }: DryRunContext): DryRun {
  const queue = new PQueue({ concurrency: serverFacts.dryRun === "proven" ? concurrency : 1 });
  return (kind, manifest, { signal }) =>
    queue.add(
      async () => {
        refuseIgnored(serverFacts);
        const asked: Asked = { kind, manifest, shape: shapeOf(manifest.kind), signal };
        const tried = await dryRunOne(reader, serverFacts, asked);
        if (serverFacts.dryRun !== "proven") {
          await prove(reader, serverFacts, tried, asked);
          await saveServerFacts();
          refuseIgnored(serverFacts);
        }
        if (serverFacts.dryRun === "proven") queue.concurrency = concurrency;
        return tried;
      },
      { signal },
    );
}

/** Whether nothing speaks against a further dry run: where dryRun may be ignored, it would be a write. */
export function isDryRunSafe({ dryRun }: Pick<KnownServer, "dryRun">): boolean {
  return dryRun === "proven" || dryRun === "indicated";
}

function refuseIgnored({ dryRun }: KnownServer): void {
  if (dryRun !== "ignored") return;
  throw new HoldfastError("error", "this control plane ignores dryRun: a dry run there deploys for real", {
    hint: "plan and drift cannot be trusted against it; no further dryRun is sent",
  });
}

async function dryRunOne(
  reader: Reader,
  serverFacts: KnownServer,
  { kind, manifest: { value }, signal }: Asked,
): Promise<DryRunResult> {
  const route = kind.writeRoutes.find(({ operation, dryRun }) => dryRun !== undefined && serverFacts.has(operation));
  if (route?.dryRun === undefined) return { state: "impossible" };
  try {
    const reply = await reader.dryRun(
      route.dryRun,
      { manifest: value },
      { signal, isRepeatable: isDryRunSafe(serverFacts) },
    );
    // The reply of a dry run may have fewer members than that of a write; without a manifest it carries only ids.
    const row = tryReadRow(route, reply);
    // A deployment that is not made yet would be ours.
    if (isDeployment(reply) && !reply.id && row?.createdBy) serverFacts.subject = row.createdBy;
    return { state: "answered", row, reply };
  } catch (error) {
    // A documented operation that seems to be missing was not reached.
    if (error instanceof ClientError && error.reason === "route-missing" && serverFacts.has(route.operation))
      throw error;
    return classifyDryRunError(error);
  }
}

// The first fault that is told with its place stands for all of them.
function faultIn({ message, details: [first] }: ClientError): { message: string; pointer: string | null } {
  if (first === undefined || first.message === "") return { message, pointer: first?.pointer || null };
  return { message: first.message, pointer: first.pointer || null };
}

function classifyDryRunError(error: unknown): DryRunResult {
  if (!(error instanceof ClientError)) throw error;
  switch (error.reason) {
    case "route-missing":
      return { state: "impossible" };
    case "forbidden":
      return { state: "forbidden" };
    case "refused":
    case "not-found":
    case "conflict":
      return { state: "refused", code: error.serverCode, ...faultIn(error) };
    default:
      throw error;
  }
}

// The application must not show what was sent. A reply without an application id is no proof, since what it may have
// made cannot be looked for.
async function prove(reader: Reader, serverFacts: KnownServer, tried: DryRunResult, asked: Asked): Promise<void> {
  if (tried.state !== "answered" || !isDeployment(tried.reply)) return;
  const { applicationId } = tried.reply;
  if (!applicationId) {
    serverFacts.dryRun = "indicated";
    return;
  }
  const { signal } = asked;
  const { rows } = await reader.page("listDeployments", { path: { id: applicationId }, limit: 1 }, { signal });
  serverFacts.dryRun = proofFrom(tried.reply, rows[0], asked);
}

// A real deployment has an id. Where the dry run answers none, its version decides, unless
// another user created that version meanwhile.
function proofFrom(
  { id, version }: Deployment,
  newest: Deployment | undefined,
  { kind, shape, manifest }: Asked,
): DryRunProof {
  if (newest === undefined) return "proven";
  if (id) return newest.id === id ? "ignored" : "proven";
  if (newest.version < version) return "proven";
  return hasContentOf(kind, shape, manifest.value, newest.manifest) ? "ignored" : "unproven";
}

function isDeployment(reply: unknown): reply is Deployment {
  return typeof reply === "object" && reply !== null && "version" in reply && typeof reply.version === "number";
}
