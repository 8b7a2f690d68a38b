import type { PassRecord, TargetStatus } from "../core/report/target-status.ts";
import type { OnForgotten } from "../state/state.ts";
import { storageErrorAt, storeErrorCode } from "../store/store-error.ts";
import type { EndedPass, PassSeen, PassTimes } from "./ended-pass.ts";
import { isWorthRecording, keepStatus, keptStatus, openHistory, readHistory } from "./history.ts";
import { holdText, readDecisions } from "./holds.ts";
import { newStatus, standbyStatus, statusAfter } from "./status-after-pass.ts";

/** The inputs of a pass recorder. */
export type RecorderOptions = {
  readonly target: string;
  readonly source: string | null;
  /** The target's own state folder. */
  readonly folder: string;
  readonly now: () => number;
  /** Called when the folder cannot store a pass: that is no failure of the pass. */
  readonly onForgotten: OnForgotten;
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
  readonly status: () => TargetStatus;
  /** The latest records, oldest first. */
  readonly latest: () => readonly PassRecord[];
  /** Resolves when a pass that starts after this call has ended. */
  readonly nextPass: () => Promise<void>;
};

/** Creates a recorder that continues from the status and history of an earlier process. */
export function createPassRecorder({
  target,
  source,
  folder,
  now,
  onForgotten,
  standsBy,
  onApplied,
  between,
}: RecorderOptions): PassRecorder {
  let status = newStatus(target, source);
  let history: ReturnType<typeof openHistory> | null = null;
  let latest: readonly PassRecord[] = [];
  let waiting: { readonly since: number; readonly resolve: () => void }[] = [];
  const open = (): ReturnType<typeof openHistory> => {
    const kept = keptStatus(folder);
    if (kept !== null) status = { ...kept, target, source };
    latest = readHistory(folder).slice(-MAX_LATEST);
    return openHistory(folder, now);
  };
  const store = (write: () => void): void => {
    try {
      write();
    } catch (error) {
      if (storeErrorCode(error) === null) throw error;
      onForgotten("the history of passes", storageErrorAt(folder, error));
    }
  };
  return {
    status: () => ({ ...status, ...standbyStatus(standsBy()), held: readDecisions(folder, now()).holds.map(holdText) }),
    latest: () => latest,
    nextPass: () =>
      new Promise((resolve) => {
        waiting.push({ since: now(), resolve });
      }),
    onPassEnd: async (pass) => {
      history ??= open();
      const { add } = history;
      const before = status;
      status = statusAfter(before, pass);
      if (status.appliedRevision !== before.appliedRevision) onApplied?.(waitedMs(before, pass.times));
      const last = status.lastPass;
      if (last !== null && isWorthRecording(last, before.lastPass)) {
        const records = [...(await supersededBy(status, before, { between, read: pass.seen.read, last })), last];
        store(() => add(records));
        latest = [...latest, ...records].slice(-MAX_LATEST);
      }
      store(() => keepStatus(folder, status));
      const isOver = ({ since }: { readonly since: number }): boolean => since <= pass.times.startedAt;
      const done = waiting.filter(isOver);
      waiting = waiting.filter((one) => !isOver(one));
      for (const { resolve } of done) resolve();
    },
  };
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
