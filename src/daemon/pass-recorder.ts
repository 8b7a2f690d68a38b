import { decisionsAt, holdText } from "../core/holds.ts";
import type { PassRecord, TargetStatus } from "../core/report/target-status.ts";
import type { TargetState } from "../state/state.ts";
import type { TargetStore } from "../state/target-store.ts";
import { storageErrorAt, storeErrorCode } from "../store/store-error.ts";
import type { EndedPass, PassSeen, PassTimes } from "./ended-pass.ts";
import { resourcesSeen } from "./resource-statuses.ts";
import { isWorthRecording, newStatus, standbyStatus, statusAfter } from "./status-after-pass.ts";

/** The inputs of a pass recorder. */
export type RecorderOptions = {
  readonly target: string;
  readonly source: string | null;
  /** Where passes are stored; that one cannot be stored is told, and is no failure of the pass. */
  readonly state: Pick<TargetState, "folder" | "target" | "onForgotten">;
  readonly now: () => number;
  /** Describes the process that this one waits for; null if it waits for none. */
  readonly standsBy: () => string | null;
  /** Called when a pass has applied a commit whole, with the time since a pass first wanted it. */
  readonly onApplied?: (waitedMs: number) => void;
  /** The commits after `after`, up to and including `upTo`. */
  readonly between: (after: string, upTo: string) => Promise<readonly string[]>;
};

/** Records every pass and the outcome of every commit of a target. */
export type PassRecorder = {
  readonly onPassEnd: (pass: EndedPass) => Promise<void>;
  readonly status: () => Promise<TargetStatus>;
  /** The latest records, oldest first. */
  readonly latest: () => readonly PassRecord[];
  /** Resolves when a pass that starts after this call has ended. */
  readonly nextPass: () => Promise<void>;
};

/** Creates a recorder that continues from the status and history of an earlier process. */
export function createPassRecorder({
  target,
  source,
  state,
  now,
  standsBy,
  onApplied,
  between,
}: RecorderOptions): PassRecorder {
  let status = newStatus(target, source);
  let latest: readonly PassRecord[] = [];
  let isContinued = false;
  let waiting: { readonly since: number; readonly resolve: () => void }[] = [];
  const tolerant = (work: (store: TargetStore) => Promise<void>): Promise<void> => withHistory(state, work);
  const continueEarlier = (): Promise<void> =>
    tolerant(async (store) => {
      const stored = await store.status();
      if (stored !== null) status = { ...stored, target, source };
      latest = (await store.passes({ limit: MAX_LATEST })).entries.toReversed();
      isContinued = true;
    });
  return {
    status: async () => {
      const { holds } = decisionsAt(await (await state.target()).decisions(), now());
      return { ...status, ...standbyStatus(standsBy()), held: holds.map(holdText) };
    },
    latest: () => latest,
    nextPass: () =>
      new Promise((resolve) => {
        waiting.push({ since: now(), resolve });
      }),
    onPassEnd: async (pass) => {
      if (!isContinued) await continueEarlier();
      const before = status;
      status = statusAfter(before, pass);
      if (status.appliedRevision !== before.appliedRevision) onApplied?.(waitedMs(before, pass.times));
      const last = status.lastPass;
      const isRecorded = last !== null && isWorthRecording(last, before.lastPass);
      const records = isRecorded
        ? [...(await supersededBy(status, before, { between, read: pass.seen.read, last })), last]
        : [];
      latest = [...latest, ...records].slice(-MAX_LATEST);
      const resources = resourcesSeen(pass.seen, pass.times.endedAt);
      await tolerant((store) => store.keep({ status, records, resources }));
      const isOver = ({ since }: { readonly since: number }): boolean => since <= pass.times.startedAt;
      const done = waiting.filter(isOver);
      waiting = waiting.filter((one) => !isOver(one));
      for (const { resolve } of done) resolve();
    },
  };
}

/** Reads or writes the history of a target. That this is not possible is told, and is no failure of what is recorded. */
export async function withHistory(
  state: RecorderOptions["state"],
  work: (store: TargetStore) => Promise<void>,
): Promise<void> {
  try {
    await work(await state.target());
  } catch (error) {
    if (storeErrorCode(error) === null) throw error;
    state.onForgotten("the history of passes", storageErrorAt(state.folder, error));
  }
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
  { between, read, last }: Pick<RecorderOptions, "between"> & Pick<PassSeen, "read"> & { readonly last: PassRecord },
): Promise<readonly PassRecord[]> {
  if (wanted === null || earlier === null || wanted === earlier) return [];
  // The common case, in which `between` need not run: the commit directly follows the previous one.
  if (read?.follows?.commit === wanted && read.follows.parent === earlier) return [];
  const commits = (await between(earlier, wanted)).filter((commit) => commit !== wanted);
  return commits.map((commit) => ({ ...last, commit, result: "superseded", reason: null, message: null, counts: {} }));
}
