import type { FormatReport } from "../contract/generated/output.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";

/** The files that were brought into canonical order, or would be, each on a line, and their number. */
export function formatText({ summary, changed }: FormatReport, isCheck: boolean): string {
  const lines = changed.map((file) => `${printable(file)}\n`).join("");
  const what = isCheck ? "would change" : "changed";
  const rest = `${count(summary.manifests, "manifest")} in ${count(summary.files, "file")}`;
  const files = changed.length === 0 ? "nothing to do" : `${count(changed.length, "file")} ${what}`;
  return `${lines}Format: ${files}, ${rest}\n`;
}
