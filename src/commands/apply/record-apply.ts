import type { WriteRefusal } from "../../core/guards/write-refusal.ts";
import type { ApplyEvent, PassEvent } from "../../core/report/events.ts";
import type { PassRecord } from "../../core/report/target-status.ts";
import { isEverything } from "../../core/selection/select.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { withHistory } from "../../daemon/pass-recorder.ts";
import { createPassWatch } from "../../daemon/pass-watch.ts";
import { resourcesSeen } from "../../daemon/resource-statuses.ts";
import {
  applyingStatus,
  forcedRecord,
  isWorthRecording,
  neverRunStatus,
  statusAfter,
} from "../../daemon/status-after-pass.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** Records an apply in the history and the status of its target, as a daemon records its passes. */
export type ApplyRecorder = {
  /** The writes begin: until the end is recorded, the status says that an apply is under way. */
  readonly begun: (event: BegunEvent) => void;
  /** `overridden`: the order of targets that a person has overridden; null if it was met. */
  readonly ended: (end: ApplyEvent, overridden: string | null) => Promise<void>;
  /** The same of an apply of a commit that an error has ended after it began to write. */
  readonly failed: (error: unknown, commit: string | null, overrides: Overrides) => Promise<void>;
};

type BegunEvent = Extract<PassEvent, { what: "begun" }>;

/** What a person has overridden by flags: the freeze in which the target is written, and the order of targets; null if neither. */
type Overrides = { readonly forced: WriteRefusal | null; readonly overridden: string | null };

/** Creates the recorder of one apply. */
export async function createApplyRecorder(
  { name, remote, state, rules }: CommandTarget,
  { clock: { now } }: Terminal,
): Promise<ApplyRecorder> {
  const startedAt = now();
  const stored = await (await state.target()).status();
  const before = { ...neverRunStatus(name, remote?.name ?? null), ...stored };
  let begun = Promise.resolve();
  const watch = createPassWatch();
  return {
    begun: (event) => {
      watch.observer.emit(event);
      // Stored before the first intent, since a state stores in order. `ended` reports a failure.
      begun = withHistory(state, (store) => store.keep({ status: applyingStatus(before, startedAt) }));
      begun.catch(() => undefined);
    },
    ended: async (end, overridden) => {
      await begun;
      await keep(({ emit }) => emit(end), null, { forced: end.forced ?? null, overridden }, end.report.approvers);
    },
    failed: async (error, commit, overrides) => {
      // That its beginning could not be stored says less than the error.
      await begun.catch(() => undefined);
      await keep(({ failure }) => failure(error), commit, overrides);
    },
  };

  async function keep(
    tell: (observer: PassObserver) => void,
    wanted: string | null,
    { forced, overridden }: Overrides,
    approvers: ApplyEvent["report"]["approvers"] = [],
  ): Promise<void> {
    tell(watch.observer);
    const pass = watch.end({ startedAt, endedAt: now(), nextAt: null, wanted });
    const status = statusAfter(before, pass);
    const { lastPass } = status;
    // What was not selected was not looked at, so the status of the whole stays as it is, but for what ran last.
    const isWhole = isEverything(rules({}).selection);
    const ofAll = lastPass && overridden !== null ? withOverridden(lastPass, overridden) : lastPass;
    const forcing = ofAll && forcedRecord(isWhole ? ofAll : ofPart(ofAll), forced);
    const names = approvers.map(({ name }) => name);
    const record = forcing && (names.length === 0 ? forcing : { ...forcing, approvers: names });
    const isRecorded = record !== null && isWorthRecording(record, before.lastPass);
    const found = resourcesSeen(pass.seen, pass.times.endedAt);
    const resources = found && { ...found, isWhole: found.isWhole && isWhole };
    const records = isRecorded ? [record] : [];
    await withHistory(state, (store) =>
      store.keep({ status: { ...(isWhole ? status : before), lastPass: record }, records, resources }),
    );
  }
}

function withOverridden(record: PassRecord, overridden: string): PassRecord {
  const message = `--allow-order: ${overridden}`;
  return { ...record, reason: record.reason ?? "OrderAllowed", message: joined(record.message, message) };
}

// Why a part is incomplete says more than that it is a part.
function ofPart(record: PassRecord): PassRecord {
  const message = "a part was selected";
  if (record.reason === null) return { ...record, reason: "Selected", message };
  return { ...record, message: joined(record.message, message) };
}

function joined(message: string | null, more: string): string {
  return message === null ? more : `${message}; ${more}`;
}
