import { type Cause, isActedOn } from "../diff/field-cause.ts";
import type { Decision } from "./decision.ts";

/** Whether all that an apply would change of a resource was changed in live, and nothing in git. */
export function isDriftAlone(
  { differences }: Pick<Decision, "differences">,
  isDrift: (cause: Cause) => boolean = (cause) => cause === "drift",
): boolean {
  const acted = differences.filter(({ cause }) => isActedOn(cause));
  return acted.length > 0 && acted.every(({ cause }) => isDrift(cause));
}
