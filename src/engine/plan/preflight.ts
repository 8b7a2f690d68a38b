import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { NotChecked } from "../../contract/generated/output.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { type Kind, parentOf, type WriteRoute } from "../../core/kind.ts";
import { exists, type Live, type LiveView } from "../../core/live.ts";
import { type Identity, type Manifest, requireRead } from "../../core/manifest.ts";
import { type Action, writes } from "../../core/plan/plan.ts";
import type { PlanWithDecisions } from "../../core/plan/plan-input.ts";
import { addsValue } from "../../core/referenced-values.ts";
import type { Sight } from "../../core/sight.ts";
import { kindOf, kindsByType } from "../../kinds/index.ts";
import { readManifest } from "../../manifests/read-manifests.ts";
import type { DryRun, DryRunResult } from "../observe/dry-run.ts";
import { isResourceError, type Observation, unreadableDiagnostic, type WavedSource } from "../observe/read-live.ts";
import type { ReadAccess } from "../session.ts";
import { refuseAbsentSecrets } from "./refuse-absent-secrets.ts";

/** Whether creates are dry-run: `skipped` where the user disables it, `not-needed` where the result is not used. */
export type CreateChecks = "dry-run" | "skipped" | "not-needed";

/** How the control plane is asked about a plan. */
export type Asking = {
  readonly server: ReadAccess;
  readonly dryRun: DryRun;
  readonly creates: CreateChecks;
  /** What the token may see. */
  readonly sight: Sight;
  readonly concurrency: number;
  readonly signal: AbortSignal;
};

/** The plan to check. */
export type PreflightInput = LiveView &
  PlanWithDecisions & {
    readonly waved: readonly WavedSource[];
    /** Replies of earlier dry runs. */
    readonly answered: ReadonlyMap<Identity, DryRunReply>;
  };

/** The routes that dry runs and probes could not determine. */
type Unclear = { readonly unclear: readonly Diagnostic[] };

/** The server's replies to a plan. */
export type PreflightResult = Unclear & {
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** The steps without a dry run, and why. */
  readonly notChecked: ReadonlyMap<Identity, NotChecked>;
};

type Job = { readonly kind: Kind; readonly manifest: Manifest; readonly action: Action };

/** The maximum number of unchanged applications to dry-run as a proof that a dry run changes nothing. */
const PROOFS = 3;

/**
 * Dry-runs the writes of a plan. For manifests that seem to differ, it shows the server's defaults and rewrites, which are
 * not differences. For new ones, it shows whether the server accepts them, with at most one request each, and only where a
 * dry run is proven to change nothing. The first manifest of a kind whose write is an extension also shows whether the
 * server has that route; without a dry run, a probe of the route does.
 */
export async function preflight(plan: PreflightInput, asking: Asking): Promise<PreflightResult> {
  const { decisions, answered } = plan;
  const jobs = plan.waved.flatMap(({ manifest }): Job[] => {
    const [kind, action] = [kindOf(manifest.kind), decisions.get(manifest.identity)?.action];
    return kind === undefined || action === undefined || !writes({ action })
      ? []
      : [{ kind, manifest: requireRead(manifest), action }];
  });
  const isNew = ({ action }: Job): boolean => action !== "update";
  const isAdding = ({ kind, manifest }: Job): boolean =>
    addsValue(kind, decisions.get(manifest.identity)?.differences ?? []);
  const made = jobs.filter((job) => isNew(job) || isAdding(job));
  const creating = new Set(made.map(({ manifest }) => manifest.identity));
  const dependsOn = ({ manifest }: Job): readonly Identity[] =>
    manifest.references.flatMap(({ identity }) => (creating.has(identity) ? [identity] : []));
  const open = jobs.filter(({ manifest }) => !answered.has(manifest.identity));
  const updates = open.filter((job) => !isNew(job) && dependsOn(job).length === 0);
  const { capabilities } = asking.server;
  const probed = await dryRunAll(new Set([...probesAmong(open, capabilities), ...updates]), dependsOn, asking);
  const { replies: first, unclear } = probed;
  const creates = jobs.filter(isNew);
  if (asking.creates === "not-needed") return { dryRuns: first, notChecked: new Map(), unclear };
  const uncheckedUpdates = jobs.flatMap((job) => {
    const { identity } = job.manifest;
    const why = isNew(job)
      ? null
      : reasonNotUpdated(job, answered.get(identity) ?? first.get(identity), dependsOn(job), capabilities);
    return why === null ? [] : [[identity, why] as const];
  });
  if (creates.length === 0) return { dryRuns: first, notChecked: new Map(uncheckedUpdates), unclear };
  const dependent = (job: Job): NotChecked | null => reasonNot(job.kind, dependsOn(job), asking);
  const isWaiting = ({ manifest: { identity } }: Job): boolean => !answered.has(identity) && !first.has(identity);
  const waiting = creates.filter((job) => isWaiting(job) && dependent(job) === null);
  const proof = waiting.length === 0 ? NO_PROOF : await proveDryRun(plan, asking);
  const isProven = capabilities.dryRun === "proven";
  const created = isProven ? await dryRunAll(new Set(waiting), () => [], asking) : NO_REPLIES;
  const replies = new Map([...first, ...created.replies]);
  const notChecked = new Map([
    ...uncheckedUpdates,
    ...creates.flatMap((job) => {
      const { identity } = job.manifest;
      // The reply to a probe of the route does not check the manifest until dryRun is proven.
      const reply = answered.get(identity) ?? (isProven ? replies.get(identity) : undefined);
      const why =
        reply === undefined ? (dependent(job) ?? reasonUnsent(job, isProven, proof.unwritable)) : reasonRefused(reply);
      return why === null ? [] : [[identity, why] as const];
    }),
  ]);
  const unchecked = creates.flatMap(({ manifest }) => (notChecked.has(manifest.identity) ? [manifest] : []));
  const refused = await refuseAbsentSecrets(unchecked, { ...asking, made });
  const allUnclear = distinct([...unclear, ...proof.unclear, ...created.unclear]);
  return { dryRuns: new Map([...replies, ...refused]), notChecked, unclear: allUnclear };
}

/** The same observation, with unreadable resources marked as existing where their dry run returned an id. */
export function withExisting(observation: Observation, dryRuns: ReadonlyMap<Identity, DryRunReply>): Observation {
  const found = [...dryRuns].flatMap(([identity, reply]): (readonly [Identity, Live])[] => {
    const live = observation.live.get(identity);
    const isExisting = live?.state === "unknown" && reply.state === "answered" && reply.row?.id;
    return isExisting ? [[identity, { ...live, exists: true }]] : [];
  });
  return found.length === 0 ? observation : { ...observation, live: new Map([...observation.live, ...found]) };
}

/** Why a create is not dry-run, with or without a proof; null where it is. */
function reasonNot(
  kind: Kind,
  dependencies: readonly Identity[],
  { creates, server: { capabilities } }: Asking,
): NotChecked | null {
  if (!hasDryRun(kind, capabilities)) return { reason: "unsupported" };
  if (creates === "skipped") return { reason: "skipped" };
  return dependencies.length === 0 ? null : { reason: "depends-on", on: dependencies };
}

// Updates are dry-run with or without a proof, since their replies show the server's defaults and rewrites.
function reasonNotUpdated(
  { kind }: Job,
  reply: DryRunReply | undefined,
  dependencies: readonly Identity[],
  capabilities: ServerCapabilities,
): NotChecked | null {
  if (reply !== undefined) return reasonRefused(reply);
  if (!hasDryRun(kind, capabilities)) return { reason: "unsupported" };
  return dependencies.length === 0 ? { reason: "unanswered" } : { reason: "depends-on", on: dependencies };
}

// A token that may not dry-run one application of a workspace may not dry-run the others there.
function reasonUnsent({ kind, manifest }: Job, isProven: boolean, unwritable: ReadonlySet<Identity>): NotChecked {
  if (isProven) return { reason: "unanswered" };
  const parent = kind.rollsOut === true ? parentOf(manifest.identity, kindsByType) : null;
  return { reason: parent !== null && unwritable.has(parent) ? "needs-write" : "unproven" };
}

function reasonRefused({ state }: DryRunReply): NotChecked | null {
  return state === "forbidden" ? { reason: "needs-write" } : null;
}

function hasDryRun({ writeRoutes }: Kind, capabilities: ServerCapabilities): boolean {
  return writeRoutes.some(({ operation, dryRun }) => dryRun !== undefined && capabilities.has(operation));
}

// The first manifest of each kind whose write route is not known to exist.
function probesAmong(jobs: readonly Job[], capabilities: ServerCapabilities): readonly Job[] {
  const unknown = jobs.filter(({ kind }) => isUnknown(kind, capabilities));
  return [...Map.groupBy(unknown, ({ kind }) => kind).values()].flatMap((group) => group.slice(0, 1));
}

type Replies = Unclear & { readonly replies: PreflightResult["dryRuns"] };

const NO_REPLIES: Replies = { replies: new Map(), unclear: [] };

async function dryRunAll(
  jobs: ReadonlySet<Job>,
  dependsOn: (job: Job) => readonly Identity[],
  { server, dryRun, signal }: Asking,
): Promise<Replies> {
  const replies = new Map<Identity, DryRunReply>();
  const unclear: Diagnostic[] = [];
  await Promise.all(
    [...jobs].map(async (job) => {
      const { kind, manifest } = job;
      if (isUnknown(kind, server.capabilities)) unclear.push(...(await attempt(probe(kind, server, signal))).unclear);
      const { result, unclear: found } = await attempt(dryRun(kind, manifest, { signal }));
      unclear.push(...found);
      // A probe may be refused for a reference that does not exist yet; it then shows only that the route exists.
      if (result.state !== "impossible" && dependsOn(job).length === 0) replies.set(manifest.identity, result);
    }),
  );
  return { replies, unclear: distinct(unclear) };
}

/** What dry runs of unchanged applications have shown. */
export type DryRunEvidence = Unclear & {
  /** The workspaces where the token may not dry-run. */
  readonly unwritable: ReadonlySet<Identity>;
};

const NO_PROOF: DryRunEvidence = { unwritable: new Set(), unclear: [] };

/** Proves dryRun with unchanged applications: if the server ignores dryRun, the new version equals the newest one. */
export async function proveDryRun(
  { waved, decisions, ...live }: PreflightInput,
  { server: { capabilities }, dryRun, signal }: Asking,
): Promise<DryRunEvidence> {
  const unwritable = new Set<Identity>();
  const unclear: Diagnostic[] = [];
  let remaining = PROOFS;
  for (const { manifest } of waved) {
    if (capabilities.dryRun === "proven" || remaining === 0) break;
    const kind = kindOf(manifest.kind);
    const action = decisions.get(manifest.identity)?.action ?? "keep";
    if (kind?.rollsOut !== true || action !== "keep" || !exists(live, manifest.identity)) continue;
    remaining -= 1;
    const read = await readManifest(manifest, { signal });
    const { result, unclear: found } = await attempt(dryRun(kind, read, { signal }));
    unclear.push(...found);
    const parent = parentOf(manifest.identity, kindsByType);
    if (result.state === "forbidden" && parent !== null) unwritable.add(parent);
  }
  return { unwritable, unclear: distinct(unclear) };
}

// A dry run, where the route has one, also shows whether the route exists.
async function probe(kind: Kind, { probeRoute, capabilities }: ReadAccess, signal: AbortSignal): Promise<DryRunResult> {
  const unknown = unknownRoute(kind, capabilities);
  if (unknown !== undefined && unknown.dryRun === undefined) await probeRoute(unknown.operation, { signal });
  return { state: "impossible" };
}

// A failed dry run leaves the schema's defaults in force, so the plan continues. Only an unclear route is reported, since
// the plan depends on whether the write exists.
async function attempt(request: Promise<DryRunResult>): Promise<Unclear & { readonly result: DryRunResult }> {
  try {
    return { result: await request, unclear: [] };
  } catch (error) {
    if (!isResourceError(error)) throw error;
    const detail = "the plan is not complete: this may not be writable";
    const unclear = error.reason === "route-unclear" ? [unreadableDiagnostic(error.operation, error, detail)] : [];
    return { result: { state: "impossible" }, unclear };
  }
}

/** The diagnostics, each once. */
export function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const isFirst = (one: Diagnostic, at: number): boolean =>
    diagnostics.findIndex(({ summary }) => summary === one.summary) === at;
  return diagnostics.filter(isFirst);
}

function isUnknown(kind: Kind, capabilities: ServerCapabilities): boolean {
  return unknownRoute(kind, capabilities) !== undefined;
}

function unknownRoute({ writeRoutes }: Kind, capabilities: ServerCapabilities): WriteRoute | undefined {
  return writeRoutes.find(({ operation }) => !capabilities.knows(operation));
}
