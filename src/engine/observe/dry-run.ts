import PQueue from "p-queue";
import { ClientError } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Deployment } from "../../contract/generated/resources.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import { hasContentOf } from "../../core/diff/compared-content.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Kind, tryReadRow } from "../../core/kind.ts";
import type { Manifest } from "../../core/manifest.ts";
import type { DryRunProof } from "../../core/server-facts.ts";
import type { ReadAccess } from "../session.ts";

/** The result of a dry run, with the reply itself, which may carry ids. */
export type DryRunResult =
  | (Extract<DryRunReply, { state: "answered" }> & { readonly reply: unknown })
  | Exclude<DryRunReply, { state: "answered" }>
  | { readonly state: "impossible" };

/** Dry-runs a write with `dryRun`. */
export type DryRun = (kind: Kind, manifest: Manifest, options: { signal: AbortSignal }) => Promise<DryRunResult>;

type DryRunRequest = {
  readonly kind: Kind;
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
};

/**
 * Creates the dry run of one server. Dry runs go one at a time until one is shown to change nothing; a server that ignores
 * `dryRun` gets no further ones.
 */
export function createDryRun(
  { reader, capabilities }: Pick<ReadAccess, "reader" | "capabilities">,
  concurrency: number,
): DryRun {
  const queue = new PQueue({ concurrency: capabilities.dryRun === "proven" ? concurrency : 1 });
  return (kind, manifest, { signal }) =>
    queue.add(
      async () => {
        refuseIgnored(capabilities);
        const request: DryRunRequest = { kind, manifest, signal };
        const tried = await dryRunOne(reader, capabilities, request);
        if (capabilities.dryRun !== "proven") {
          await prove(reader, capabilities, tried, request);
          await capabilities.save();
          refuseIgnored(capabilities);
        }
        if (capabilities.dryRun === "proven") queue.concurrency = concurrency;
        return tried;
      },
      { signal },
    );
}

/** Whether a further dry run is safe: a server that ignores `dryRun` would perform the write. */
export function isDryRunSafe({ dryRun }: ServerCapabilities): boolean {
  return dryRun === "proven" || dryRun === "indicated";
}

function refuseIgnored({ dryRun }: ServerCapabilities): void {
  if (dryRun !== "ignored") return;
  throw new HoldfastError("error", "this control plane ignores dryRun: a dry run there deploys for real", {
    hint: "plan and drift cannot be trusted against it; no further dryRun is sent",
  });
}

async function dryRunOne(
  reader: Reader,
  capabilities: ServerCapabilities,
  { kind, manifest: { value }, signal }: DryRunRequest,
): Promise<DryRunResult> {
  const route = kind.writeRoutes.find(({ operation, dryRun }) => dryRun !== undefined && capabilities.has(operation));
  if (route?.dryRun === undefined) return { state: "impossible" };
  try {
    const reply = await reader.dryRun(
      route.dryRun,
      { manifest: value },
      { signal, isRepeatable: isDryRunSafe(capabilities) },
    );
    // The reply of a dry run may have fewer members than that of a write; without a manifest it carries only ids.
    const row = tryReadRow(route, reply);
    // A deployment without an id does not exist yet, so its subject is ours.
    if (isDeployment(reply) && !reply.id && row?.createdBy) capabilities.subject = row.createdBy;
    return { state: "answered", row, reply };
  } catch (error) {
    // A documented operation that seems to be missing was not reached.
    if (error instanceof ClientError && error.reason === "route-missing" && capabilities.has(route.operation))
      throw error;
    return classifyDryRunError(error);
  }
}

// The first detail with its pointer represents all of them.
function firstFault({ message, details: [first] }: ClientError): { message: string; pointer: string | null } {
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
      return { state: "refused", code: error.serverCode, ...firstFault(error) };
    default:
      throw error;
  }
}

// Proof requires that the application does not show what was sent. A reply without an application id is no proof, since
// a deployment that it may have created cannot be found.
async function prove(
  reader: Reader,
  capabilities: ServerCapabilities,
  tried: DryRunResult,
  request: DryRunRequest,
): Promise<void> {
  if (tried.state !== "answered" || !isDeployment(tried.reply)) return;
  const { applicationId } = tried.reply;
  if (!applicationId) {
    capabilities.dryRun = "indicated";
    return;
  }
  const { signal } = request;
  const { rows } = await reader.page("listDeployments", { path: { id: applicationId }, limit: 1 }, { signal });
  capabilities.dryRun = proofFrom(tried.reply, rows[0], request);
}

// A real deployment has an id. If the reply of the dry run has none, its version decides, unless
// another writer created that version meanwhile.
function proofFrom(
  { id, version }: Deployment,
  newest: Deployment | undefined,
  { kind, manifest }: DryRunRequest,
): DryRunProof {
  if (newest === undefined) return "proven";
  if (id) return newest.id === id ? "ignored" : "proven";
  if (newest.version < version) return "proven";
  return hasContentOf(kind, manifest.value, newest.manifest) ? "ignored" : "unproven";
}

function isDeployment(reply: unknown): reply is Deployment {
  return typeof reply === "object" && reply !== null && "version" in reply && typeof reply.version === "number";
}
