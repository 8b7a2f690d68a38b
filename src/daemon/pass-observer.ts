import type { PassEvent } from "../core/report/events.ts";
import type { EndedPass } from "./ended-pass.ts";
import type { PassJob } from "./pass-queue.ts";

/** Observes the passes of one target; it never delays them. */
export type PassObserver = {
  /** Called when a pass begins. */
  readonly begin?: (job: PassJob) => void;
  readonly emit: (event: PassEvent) => void;
  /** Called when a pass fails; the next pass tries again. */
  readonly failure: (error: unknown) => void;
  /** Called when a pass has ended, failed or not. */
  readonly end?: (pass: EndedPass) => void;
  /** Called when a pass has applied a commit whole, with the time since a pass first wanted it. */
  readonly applied?: (waitedMs: number) => void;
  /** Called when no pass follows: because of an error, or because of a stop request (null). */
  readonly ended?: (error: unknown) => void;
};

/** One observer that forwards every call to several. */
export function observers(all: readonly PassObserver[]): Required<PassObserver> {
  return {
    begin: (job) => {
      for (const each of all) each.begin?.(job);
    },
    emit: (event) => {
      for (const each of all) each.emit(event);
    },
    failure: (error) => {
      for (const each of all) each.failure(error);
    },
    end: (pass) => {
      for (const each of all) each.end?.(pass);
    },
    applied: (waitedMs) => {
      for (const each of all) each.applied?.(waitedMs);
    },
    ended: (error) => {
      for (const each of all) each.ended?.(error);
    },
  };
}
