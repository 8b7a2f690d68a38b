import type { RecordsEvent } from "../core/events.ts";
import { count } from "./count.ts";
import { printable } from "./escape.ts";

/** What became of records, one line each, and what stays as it is. */
export function recordsText(
  { changed, left }: RecordsEvent,
  { done, stays }: { readonly done: string; readonly stays: string },
): string {
  const lines = [
    ...changed.map((identity) => `  ${done.padEnd(9)} ${printable(identity)}`),
    ...left.map(({ identity, why }) => `  left      ${printable(identity)}: ${why}`),
    `${count(changed.length, "resource")} ${done}; ${stays}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}
