import type { RecordsReport } from "../core/report/report.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";

const doneText = {
  adopt: { done: "adopted", stays: "nothing was written to the control plane" },
  forget: { done: "forgotten", stays: "what is live of them stays, and nobody follows it any more" },
} as const;

const whyText: { readonly [why in RecordsReport["left"][number]["why"]]: string } = {
  recorded: "is recorded already",
  absent: "is not live",
  unreadable: "cannot be read here",
};

/** What became of records, one line each, and what stays as it is. */
export function recordsText({ action, changed, left }: RecordsReport): string {
  const { done, stays } = doneText[action];
  const lines = [
    ...changed.map(({ identity }) => `  ${done.padEnd(9)} ${printable(identity)}`),
    ...left.map(({ identity, why }) => `  left      ${printable(identity)}: ${whyText[why]}`),
    `${count(changed.length, "resource")} ${done}; ${stays}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}
