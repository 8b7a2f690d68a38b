import type { ApplyEvent, PlanEvent, ReadEvent } from "../core/report/events.ts";
import type { PassConclusion, PassFacts } from "../core/report/pass-result.ts";

/** What one pass reported. */
export type PassSeen = Omit<PassFacts, "applied" | "planned"> & {
  /** The id that its writes name; null if it has not begun to write. */
  readonly pass: string | null;
  /** What was read of the source; null if it could not be read. */
  readonly read: ReadEvent | null;
  readonly applied: ApplyEvent | null;
  readonly planned: PlanEvent | null;
};

/** When a pass ran, and which commit its source wanted. */
export type PassTimes = {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null if possibly no pass follows. */
  readonly nextAt: number | null;
  /** The newest commit of the source; null if it has none. */
  readonly wanted: string | null;
};

/** A pass that has ended, and its only judgement: whoever tells of the pass derives what it says from the conclusion. */
export type EndedPass = {
  readonly seen: PassSeen;
  readonly conclusion: PassConclusion;
  readonly times: PassTimes;
};
