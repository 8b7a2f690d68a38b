import type { NotUsed } from "../core/not-used.ts";
import type { DriftEntry, DriftReport } from "../core/report.ts";
import { joinCounts } from "./count.ts";
import { printable } from "./escape.ts";
import { notUsedText } from "./not-used.ts";
import type { Paint, Style } from "./paint.ts";
import { showValue } from "./value.ts";

const styles: { readonly [state in DriftEntry["state"]]: Style } = {
  drifted: "yellow",
  unrecorded: "yellow",
  absent: "red",
  unknown: "dim",
  orphan: "magenta",
};

/** `Drift: 1 drifted, 2 unknown, 40 unchanged`. */
function driftLine({ summary, complete }: Pick<DriftReport, "summary" | "complete">): string {
  const { drifted, unrecorded, absent, unknown, orphan, unchanged } = summary;
  const text = joinCounts([
    [drifted, "drifted"],
    [unrecorded, "unrecorded"],
    [absent, "absent"],
    [unknown, "unknown"],
    [orphan, orphan === 1 ? "orphan" : "orphans"],
    [unchanged, "unchanged"],
  ]);
  const head = drifted + unrecorded + absent === 0 ? "none" : "";
  const tail = complete ? "" : " (incomplete: live could not be read in full)";
  return `Drift: ${[head, text].filter((part) => part !== "").join("; ")}${tail}`;
}

/** A drift report for people: recorded → live for each field that moved. */
export function driftText(
  report: DriftReport,
  paint: Paint,
  stand: string | null,
  notUsed: readonly NotUsed[] = [],
): string {
  const line = driftLine(report);
  const shown = report.drift.filter(({ state }) => state !== "unknown");
  const note = stand === null ? [] : [paint("dim", printable(stand))];
  if (shown.length === 0) return [line, ...note, ""].join("\n");
  return [
    paint("bold", line),
    ...note,
    "",
    ...shown.map((entry) => entryText(entry, paint)),
    "",
    ...notUsedText(notUsed, paint),
    paint("bold", line),
    "",
  ].join("\n");
}

function entryText({ identity, state, file, line, changes }: DriftEntry, paint: Paint): string {
  const place = file === null ? "" : paint("dim", `  ${printable(file)}:${line ?? 1}`);
  const rows = changes.map(
    ({ label, before, after, cause }) =>
      `      ${printable(label)}: ${showValue(before)} → ${showValue(after)}  ${paint("dim", cause)}`,
  );
  return [`  ${paint(styles[state], state.padEnd(10))} ${printable(identity)}${place}`, ...rows].join("\n");
}
