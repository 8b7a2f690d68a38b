import type { RecordsReport } from "../core/report/report.ts";
import { count, joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";

const doneText = {
  adopt: { done: "adopted", stays: "nothing was written to the control plane" },
  forget: { done: "forgotten", stays: "the live resources stay and are no longer managed" },
} as const;

const whyText: { readonly [why in RecordsReport["left"][number]["why"]]: string } = {
  recorded: "is recorded already",
  absent: "is not live",
  unreadable: "cannot be read here",
};

const whyCounted: typeof whyText = {
  recorded: "recorded already",
  absent: "not live",
  unreadable: "not readable here",
};

/** The changed records in one line, with the number of those that are left and why. */
export function recordsLine({ action, changed, left }: RecordsReport): string {
  const { done, stays } = doneText[action];
  const reasons = Map.groupBy(left, ({ why }) => why);
  const counts = joinCounts([...reasons].map(([why, alike]) => [alike.length, whyCounted[why]]));
  const rest = counts === "" ? "" : `; left as they are: ${counts}`;
  return `${count(changed.length, "resource")} ${done}${rest}; ${stays}\n`;
}

/** The changed records, one line each, and what is not changed. */
export function recordsText({ action, changed, left }: RecordsReport): string {
  const { done, stays } = doneText[action];
  const lines = [
    ...changed.map(({ identity }) => `  ${done.padEnd(9)} ${printable(identity)}`),
    ...left.map(({ identity, why }) => `  left      ${printable(identity)}: ${whyText[why]}`),
    `${count(changed.length, "resource")} ${done}; ${stays}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}
