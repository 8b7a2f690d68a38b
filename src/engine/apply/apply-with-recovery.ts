import type { Kind } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Manifest } from "../../core/manifest.ts";
import { summariseOutcomes } from "../../core/report/report.ts";
import { isShown, sightOf } from "../../core/sight.ts";
import { kindsByType } from "../../kinds/index.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { PendingIntent } from "../../state/ledger.ts";
import { createDryRun, type DryRun, isDryRunSafe } from "../observe/dry-run.ts";
import { readCaller } from "../observe/read-caller.ts";
import { type LiveReading, observeOne } from "../observe/read-live.ts";
import type { LivePlan } from "../plan.ts";
import type { ServerSession } from "../session.ts";
import { type ApplyContext, type ApplyResult, applyPlan } from "./apply-plan.ts";
import { type CurrentPass, interruptedOutcomes, isFinished } from "./interrupted-outcomes.ts";
import { type Recovered, type Recovery, recover } from "./recover.ts";

/** The options for applying a plan. */
export type ApplyOptions = Pick<
  ApplyContext,
  | "concurrency"
  | "wait"
  | "failFast"
  | "onProgress"
  | "onLeft"
  | "requestTimeoutMs"
  | "rolloutTimeoutMs"
  | "clock"
  | "random"
  | "signal"
  | "stopping"
  | "stopWaiting"
> & {};

/** The options for recovering writes of an earlier run. */
type RecoveryOptions = Pick<ApplyOptions, "concurrency" | "clock" | "onProgress" | "signal">;

/** Applies a plan, and settles the interrupted writes of an earlier run. */
export async function applyWithRecovery(
  planned: LivePlan,
  session: ServerSession,
  {
    recovered,
    ...options
  }: ApplyOptions & Pick<ApplyContext, "hasLease" | "recordsEqual"> & { readonly recovered: readonly Recovered[] },
): Promise<ApplyResult> {
  const { plan, decisions, observation, desired, recorded } = planned;
  const observing = observingWith(session, options);
  const resumed = new Set<string>();
  const manifests = new Map(desired.manifests.map((manifest) => [manifest.identity, manifest]));
  const interrupted = new Set(recovered.map(({ intent }) => intent.identity));
  // Read before any write, so that a file that changes meanwhile cannot make the report fail.
  const wantedManifests = await readManifests(
    desired.manifests.filter(({ identity }) => interrupted.has(identity)),
    options,
  );
  await dropGoneRecords(planned, session);
  const applied = await applyPlan(
    { plan, decisions },
    {
      ...session,
      ...options,
      live: observation.live,
      recorded,
      manifests,
      recovered: Map.groupBy(recovered, ({ intent }) => intent.identity),
      onResumed: (id) => void resumed.add(id),
      readBack: ({ kind, manifest, live }) => {
        const id = live.state === "present" ? live.row.id : (recorded.get(manifest.identity)?.id ?? null);
        return readLiveOf({ kind, manifest, id }, observing);
      },
    },
  );
  await session.ledger.storeWaitingFacts();
  const stillWanted = new Map(wantedManifests.map((manifest) => [manifest.identity, manifest]));
  const wanted = { plan, manifests: stillWanted, declared: desired.declared, resumed };
  const over = recovered.filter((one) => isFinished(one, wanted));
  await Promise.all(over.map(({ intent }) => session.ledger.close(intent.id, null)));
  return withInterrupted(applied, recovered, wanted);
}

function withInterrupted(applied: ApplyResult, recovered: readonly Recovered[], wanted: CurrentPass): ApplyResult {
  const outcomes = [...interruptedOutcomes(recovered, wanted), ...applied.outcomes];
  const tokens = recovered.flatMap(({ intent: { identity }, token }) =>
    token === null ? [] : [{ identity, location: token }],
  );
  return { ...applied, outcomes, summary: summariseOutcomes(outcomes), tokens: [...tokens, ...applied.tokens] };
}

/** Determines the outcome of writes that an earlier run left open; called before planning. */
export async function recoverPending(
  session: ServerSession,
  options: ApplyOptions & Pick<Recovery, "isFenced">,
): Promise<readonly Recovered[]> {
  const pending = await session.ledger.pending();
  if (pending.length === 0) return [];
  return recover(pending, await recoveryWith(session, options));
}

/** Creates the context for recovering the writes of an earlier run. */
export async function recoveryWith(session: ServerSession, options: RecoveryOptions): Promise<Recovery> {
  const recorded = await session.heads();
  const dryRun = dryRunForReading(session, options);
  const observing = { ...observingWith(session, options), dryRun };
  const sight = sightOf(await readCaller(observing));
  return {
    ...session,
    ...options,
    readLive: async (intent, kind) => {
      const { identity } = intent;
      const id = recorded.get(identity)?.id ?? null;
      const live = await readLiveOf({ kind, manifest: sentManifest(intent), id }, observing);
      const isUnseen = live.state === "absent" && sight !== null && !isShown(sight, identity, kindsByType);
      return isUnseen ? { state: "unknown", reason: "not-visible" } : live;
    },
    dryRun: (intent, kind) => dryRun(kind, sentManifest(intent), options),
  };
}

type Reread = { readonly kind: Kind; readonly manifest: Manifest; readonly id: string | null };

/** Reads live of one resource again; for a kind without a read, a safe dry run shows whether the resource exists. */
async function readLiveOf({ kind, manifest, id }: Reread, context: LiveReading): Promise<Live> {
  const live = await observeOne({ identity: manifest.identity, kind, manifest, id, wave: 0 }, context);
  const mayDryRun = kind.single === undefined && isDryRunSafe(context.serverFacts);
  if (live.state !== "unknown" || live.reason !== "no-read" || !mayDryRun) return live;
  const tried = await context.dryRun(kind, manifest, context);
  if (tried.state !== "answered" || tried.row === null) return live;
  return tried.row.id === null ? { state: "absent" } : { ...live, exists: true };
}

function observingWith({ reader, serverFacts, saveServerFacts }: ServerSession, options: RecoveryOptions): LiveReading {
  const { concurrency, signal } = options;
  const dryRun = createDryRun({ reader, serverFacts, saveServerFacts }, concurrency);
  return { reader, serverFacts, known: null, dryRun, concurrency, signal };
}

function dryRunForReading(session: ServerSession, options: RecoveryOptions): DryRun {
  if (!isDryRunSafe(session.serverFacts)) return async () => ({ state: "impossible" });
  return observingWith(session, options).dryRun;
}

function sentManifest({ kind, identity, manifest: value }: PendingIntent): Manifest {
  return { kind, identity, value, file: "", line: 1, references: [] };
}

// Drops the records of resources that are neither declared nor live.
async function dropGoneRecords(
  { desired, observation: { live }, recorded }: LivePlan,
  { ledger }: ServerSession,
): Promise<void> {
  const gone = recorded
    .keys()
    .filter((identity) => !desired.declared.has(identity) && live.get(identity)?.state === "absent")
    .toArray();
  if (gone.length > 0) await ledger.forget(gone);
}
