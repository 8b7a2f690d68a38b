import type { FreezeSchedule } from "../core/guards/freeze-windows.ts";
import { holdsAt, holdText } from "../core/holds.ts";
import type { Identity } from "../core/manifest.ts";
import type { PassResult } from "../core/report/events.ts";
import type { RolloutResult } from "../core/report/report.ts";
import type { PassRecord, ResourceStatus, TargetStatus } from "../core/report/target-status.ts";
import type { Target } from "../engine/target.ts";
import { isUnusableState, OtherKeyError } from "../state/is-storage-error.ts";
import type { ResourcesSeen } from "../state/resource-events.ts";
import type { TargetState } from "../state/state.ts";
import type { PassMemory, TargetStore } from "../state/target-store.ts";
import { storageErrorAt } from "../store/store-error.ts";
import type { DatabaseWatch } from "./database-watch.ts";
import type { EndedPass, PassSeen, PassTimes } from "./ended-pass.ts";
import type { PassObserver } from "./pass-observer.ts";
import { createPassWatch } from "./pass-watch.ts";
import { resourcesSeen } from "./resource-statuses.ts";
import {
  forcedRecord,
  freezeStatus,
  isWorthRecording,
  newStatus,
  standbyStatus,
  startingStatus,
  statusAfter,
  unreadableStatus,
} from "./status-after-pass.ts";

/** The inputs of a pass recorder. */
export type RecorderOptions = {
  readonly target: string;
  readonly source: string | null;
  /** Where passes are stored; that one cannot be stored is told, and is no failure of the pass. */
  readonly state: Pick<TargetState, "folder" | "target" | "onForgotten">;
  readonly now: () => number;
  /** When nothing may be written; absent without freeze windows. */
  readonly freezes?: FreezeSchedule | undefined;
  /** Describes the process that this one waits for; null if it waits for none. */
  readonly standsBy: () => string | null;
  /** The commits after `after`, up to and including `upTo`. */
  readonly between: (after: string, upTo: string) => Promise<readonly string[]>;
  /** The name of this process where others record passes of the target too, so that only what is stored is true; else null. */
  readonly machine: string | null;
  /** The database of the state; absent for a folder. */
  readonly database?: DatabaseWatch | null;
};

/** Records every pass and the outcome of every commit of a target. */
export type PassRecorder = {
  /**
   * Without a memory, what is kept for the next pass stays as it is. Returns the time since a pass first wanted the commit that
   * this one has applied whole; null if it has not applied another commit.
   */
  readonly onPassEnd: (pass: EndedPass, memory?: PassMemory) => Promise<number | null>;
  /** Sees the rollouts that end after their pass. */
  readonly observer: PassObserver;
  readonly status: () => Promise<TargetStatus>;
  /** The latest records, oldest first. */
  readonly latest: () => Promise<readonly PassRecord[]>;
};

/** Creates a recorder that continues from the status and history of an earlier process. */
export function createPassRecorder({
  target,
  source,
  state,
  now,
  freezes,
  standsBy,
  between,
  machine,
  database = null,
}: RecorderOptions): PassRecorder {
  const isShared = machine !== null;
  let status = newStatus(target, source);
  let latest: readonly PassRecord[] = [];
  let hasEnded = false;
  let isContinued = false;
  let held: readonly string[] = [];
  const rollouts = rolloutsBetweenPasses();
  let storing = Promise.resolve();
  const continueEarlier = (): Promise<void> =>
    withHistory(state, async (store) => {
      const stored = await store.status();
      latest = await latestIn(store);
      if (stored !== null) status = { ...stored, target, source };
      isContinued = true;
    });
  const storedStatus = async (): Promise<TargetStatus> => {
    const stored = (await unlessUnreadable(state, (store) => store.status())) ?? status;
    return isShared ? stored : startingStatus(stored);
  };
  let lastShown = newStatus(target, source);
  const reading = <Read>(read: () => Promise<Read>): Promise<Read | null> => database?.read(read) ?? read();
  const statusNow = async (): Promise<TargetStatus> => {
    const decisions = await unlessUnreadable(state, (store) => store.decisions());
    if (decisions !== null) held = holdsAt(decisions, now()).map(holdText);
    const shown = hasEnded && !isShared ? status : await storedStatus();
    return { ...shown, target, source, ...standbyStatus(standsBy()), held, ...freezeStatus(freezes, now()) };
  };
  return {
    status: async () => {
      const read = await reading(statusNow);
      const lostSince = database?.lostSince() ?? null;
      if (lostSince !== null) return { ...lastShown, ...unreadableStatus(lostSince) };
      lastShown = read ?? lastShown;
      return lastShown;
    },
    // Until the first pass has ended, another process may be recording passes.
    latest: async () =>
      hasEnded && !isShared ? latest : ((await reading(() => unlessUnreadable(state, latestIn))) ?? []),
    observer: {
      emit: (event) => {
        const found = event.what === "rolled-out" ? rollouts.ended(event, now()) : null;
        if (found === null) return;
        storing = storing.then(() =>
          withHistory(state, async (store) =>
            store.keep({ status: (isShared ? await store.status() : null) ?? status, resources: found }),
          ),
        );
        // The end of the next pass reports a failure.
        storing.catch(() => undefined);
      },
      failure: () => {},
    },
    onPassEnd: async (pass, memory) => {
      await storing;
      if (!isContinued || isShared) await continueEarlier();
      const before = status;
      status = ranOn(machine, statusAfter(before, pass));
      hasEnded = true;
      const last = status.lastPass;
      const isRecorded = last !== null && isWorthRecording(last, before.lastPass);
      const records = isRecorded
        ? [...(await supersededBy(status, before, last, { between, read: pass.seen.read })), last]
        : [];
      latest = [...latest, ...records].slice(-MAX_LATEST);
      const resources = rollouts.passEnded(pass);
      await withHistory(state, (store) =>
        store.keep({ status, records, resources, ...(memory === undefined ? {} : { memory }) }),
      );
      return status.appliedRevision === before.appliedRevision ? null : waitedMs(before, pass.times);
    },
  };
}

function ranOn(machine: string | null, status: TargetStatus): TargetStatus {
  return machine === null || status.lastPass === null
    ? status
    : { ...status, lastPass: { ...status.lastPass, machine } };
}

/**
 * Records a redeploy with which a person wrote although writes were refused. Other redeploys are not recorded: the next
 * pass sees what they did.
 */
export async function recordForced(
  end: PassResult,
  { state }: Target,
  { startedAt, endedAt }: Pick<PassTimes, "startedAt" | "endedAt">,
): Promise<void> {
  if (end.what !== "applied" || end.forced === undefined) return;
  const { forced } = end;
  const watch = createPassWatch();
  watch.observer.emit(end);
  const pass = watch.end({ startedAt, endedAt, nextAt: null, wanted: null });
  await withHistory(state, async (store) => {
    const status = (await store.status()) ?? newStatus("", null);
    const { lastPass } = statusAfter(status, pass);
    if (lastPass !== null) await store.keep({ status, records: [forcedRecord(lastPass, forced)] });
  });
}

/** Reads or writes the history of a target. That this is not possible is told, and is no failure of what is recorded. */
export async function withHistory(
  state: RecorderOptions["state"],
  work: (store: TargetStore) => Promise<void>,
): Promise<void> {
  await unlessUnreadable(state, work, (error) => {
    // The pass has failed with that error, and the state is another's.
    if (error instanceof OtherKeyError) return;
    state.onForgotten("the history of passes", storageErrorAt(state.folder, error));
  });
}

/** The rollouts that passes no longer waited for, with what is known of their resources. */
function rolloutsBetweenPasses() {
  let progressing = new Map<Identity, ResourceStatus>();
  let commit: string | null = null;
  let early = new Map<Identity, RolloutResult>();
  return {
    passEnded: ({ seen, times }: EndedPass): ResourcesSeen | null => {
      const found = resourcesSeen(seen, times.endedAt, early);
      early = new Map();
      if (found === null) return null;
      commit = found.commit;
      if (found.isWhole) progressing = new Map();
      for (const one of found.statuses) if (one.rollout === "progressing") progressing.set(one.identity, one);
      return found;
    },
    ended: ({ identity, rollout, rolloutStatus }: RolledOut, now: number): ResourcesSeen | null => {
      const status = progressing.get(identity);
      progressing.delete(identity);
      // It may end before its pass does.
      if (status === undefined) early.set(identity, rollout);
      if (status === undefined) return null;
      return {
        at: new Date(now).toISOString(),
        commit,
        isWhole: false,
        statuses: [{ ...status, rollout, ...(rolloutStatus !== undefined && { rolloutStatus }) }],
      };
    },
  };
}

type RolledOut = Pick<ResourceStatus, "identity" | "rollout" | "rolloutStatus">;

/** Reads what is stored of a target; null if that is not possible: the next pass tells it, and must not depend on it. */
export async function unlessUnreadable<Stored>(
  { target }: { readonly target: TargetState["target"] },
  read: (store: TargetStore) => Promise<Stored>,
  onUnreadable: (error: unknown) => void = () => undefined,
): Promise<Stored | null> {
  try {
    return await read(await target());
  } catch (error) {
    if (!isUnusableState(error)) throw error;
    onUnreadable(error);
    return null;
  }
}

async function latestIn(store: TargetStore): Promise<readonly PassRecord[]> {
  return (await store.passes({ limit: MAX_LATEST })).entries.toReversed();
}

const MAX_LATEST = 10;

function waitedMs({ oldestUnapplied }: TargetStatus, { startedAt, endedAt }: PassTimes): number {
  const since = oldestUnapplied === null ? startedAt : Date.parse(oldestUnapplied.since);
  // The clock may have been set back.
  return Math.max(0, endedAt - since);
}

// Commits that arrived between two passes are recorded too, as superseded.
async function supersededBy(
  { wantedRevision: wanted }: TargetStatus,
  { wantedRevision: earlier }: TargetStatus,
  last: PassRecord,
  { between, read }: { readonly between: RecorderOptions["between"]; readonly read: PassSeen["read"] },
): Promise<readonly PassRecord[]> {
  if (wanted === null || earlier === null || wanted === earlier) return [];
  // The common case, in which `between` need not run: the commit directly follows the previous one.
  if (read?.follows?.commit === wanted && read.follows.parent === earlier) return [];
  const commits = (await between(earlier, wanted)).filter((commit) => commit !== wanted);
  // They have written nothing.
  const { pass: _, ...times } = last;
  return commits.map((commit) => ({ ...times, commit, result: "superseded", reason: null, message: null, counts: {} }));
}
