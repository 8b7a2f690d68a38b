import type { Diagnostic } from "../diagnostic.ts";
import { HoldfastError } from "../errors.ts";
import type { OutcomeError } from "../report/report.ts";
import { runWarning } from "../run-warning.ts";
import { timestampText } from "../timestamp-text.ts";
import type { Freeze } from "./freeze-windows.ts";

/** The code of what is not written in a freeze. */
export const FROZEN = "frozen";

/** Why a target must not be written now, and the flag with which a person writes all the same. */
export type WriteRefusal = {
  readonly code: typeof FROZEN;
  /** A predicate of the target: `frozen until …: weekend`. */
  readonly message: string;
  readonly flag: "--allow-window";
};

/** Why nothing is written in a freeze. */
export function freezeRefusal(freeze: Freeze): WriteRefusal {
  return { code: FROZEN, message: freezeText(freeze), flag: "--allow-window" };
}

/** The words for a freeze: `frozen until 2026-11-30T06:00:00Z: weekend`. */
export function freezeText({ until, reason }: Freeze): string {
  const end = until === null ? "without a known end" : `until ${timestampText(until)}`;
  return `frozen ${end}${reason === null ? "" : `: ${reason}`}`;
}

/** The error of an apply that is refused now. */
export function writeRefused({ message, flag }: WriteRefusal): HoldfastError {
  return new HoldfastError("refused", `the target is ${message}`, {
    hint: `nothing was written: wait for that time, or write all the same with ${flag}, which the history records`,
  });
}

/** What a plan says of an apply that would be refused now. */
export function writeRefusedWarning({ code, message, flag }: WriteRefusal): Diagnostic {
  return runWarning(code, `apply would be refused now: the target is ${message}`, `${flag} writes all the same`);
}

/** Why a step is left out when writes are refused. */
export function writeRefusedOutcome({ code, message }: WriteRefusal): OutcomeError {
  return { code, message: `not sent: the target is ${message}` };
}
