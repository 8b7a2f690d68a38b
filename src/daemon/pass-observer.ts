import type { PassEvent } from "../core/report/events.ts";
import type { PassCause } from "./loop.ts";

/** Follows the passes of one target; it never holds them up. */
export type PassObserver = {
  /** Told what makes a pass begin. */
  readonly begin?: (cause: PassCause) => void;
  readonly emit: (event: PassEvent) => void;
  /** Told of a pass that failed; the next one tries again. */
  readonly failure: (error: unknown) => void;
};

/** One observer that passes everything on to several. */
export function observers(all: readonly PassObserver[]): Required<PassObserver> {
  return {
    begin: (cause) => {
      for (const each of all) each.begin?.(cause);
    },
    emit: (event) => {
      for (const each of all) each.emit(event);
    },
    failure: (error) => {
      for (const each of all) each.failure(error);
    },
  };
}
