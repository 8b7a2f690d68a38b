import { lastGoodText, placeText } from "../core/report/invalid-text.ts";
import type { InvalidStatus } from "../core/report/target-status.ts";

/** An invalid manifest, its error, and what stays in force of its resource, as one line. */
export function invalidText({ identity, file, line, message, lastGood }: InvalidStatus): string {
  const name = identity === "" ? "" : ` ${identity}`;
  return `${placeText({ file, line })}${name}: ${message}; ${lastGoodText(lastGood)}`;
}
