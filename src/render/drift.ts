import type { RegistryOnly } from "../contract/generated/output.ts";
import type { Access } from "../core/access.ts";
import type { MissingExtension } from "../core/missing-extensions.ts";
import type { DriftEntry, DriftReport } from "../core/report/report.ts";
import { changeLines } from "./change.ts";
import { joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";
import { writerText } from "./last-write.ts";
import { orphanLines, orphanNotes } from "./orphans.ts";
import type { Paint, Style } from "./paint.ts";
import { serverText } from "./plan.ts";
import { registryOnlyLines } from "./registry-only.ts";
import { callerAccessLines, incompleteText, missingExtensionsText } from "./report-notes.ts";
import { nameIn, titleLine } from "./step.ts";
import { padColumns } from "./text-width.ts";
import { wrapWords } from "./wrap.ts";

const styles: { readonly [state in DriftEntry["state"]]: Style } = {
  drifted: "yellow",
  unrecorded: "yellow",
  absent: "red",
  unknown: "dim",
  orphan: "magenta",
};

/** `Drift: 1 drifted, 2 unknown, 40 unchanged`. */
function driftLine(report: DriftReport): string {
  const { drifted, unrecorded, absent, unknown, orphan, invalid, unchanged } = report.summary;
  const text = joinCounts([
    [drifted, "drifted"],
    [unrecorded, "unrecorded"],
    [absent, "absent"],
    [unknown, "unknown"],
    [invalid, "invalid"],
    [orphan, orphan === 1 ? "orphan" : "orphans"],
    [unchanged, "unchanged"],
  ]);
  const head = drifted + unrecorded + absent > 0 ? "" : noneWhere(unknown, report.complete);
  const tail = incompleteText(report);
  return `Drift: ${[head, text].filter((part) => part !== "").join("; ")}${tail}`;
}

// What was not seen may differ.
function noneWhere(unknown: number, isComplete: boolean): string {
  return unknown === 0 && isComplete ? "none" : "none found";
}

/** Layout of a drift report. */
export type DriftView = {
  readonly paint: Paint;
  readonly width: number;
  /** The current time in epoch milliseconds, to show ages; null to show timestamps. */
  readonly now: number | null;
  /** The token's subject and permissions; null when the control plane does not report them. */
  readonly access?: Access | null;
  /** The name of the target, when there are several. */
  readonly target?: string | null;
  /** The versions that the registry holds and no manifest declares. @default none */
  readonly registryOnly?: readonly RegistryOnly[] | undefined;
  /** What live is compared with. @default what was recorded */
  readonly basis?: "recorded" | "declared" | "recorded or declared";
};

/** A drift report as text: both sides of each changed field, and a summary. */
export function driftText(
  report: DriftReport,
  view: DriftView,
  stand: string | null,
  notUsed: readonly MissingExtension[] = [],
): string {
  const { paint, width } = view;
  const line = driftLine(report);
  const title = `Drift on ${serverText(report.server, view.target ?? null)}: ${view.basis ?? "recorded"} → live`;
  const shown = report.drift.filter(({ state }) => state !== "unknown");
  const note = stand === null ? [] : wrapWords(printable(stand), { indent: "", width }).map((one) => paint("dim", one));
  const [orphans, moved] = [shown.filter(isOrphan), shown.filter((entry) => !isOrphan(entry))];
  const notes = [
    ...orphanNotes({ counted: report.summary.orphan - orphans.length, history: report.history }, view),
    ...registryOnlyLines(view.registryOnly ?? [], view),
  ];
  if (shown.length === 0) return [...note, ...wrapWords(line, { indent: "", width }), ...notes, ""].join("\n");
  return [
    ...wrapWords(title, { indent: "", width }),
    ...callerAccessLines(view.access ?? null, view),
    ...note,
    "",
    ...moved.flatMap((entry) => entryLines(entry, view)),
    ...(moved.length === 0 ? [] : [""]),
    ...orphanLines(orphans, view),
    ...(orphans.length === 0 ? [] : [""]),
    ...missingExtensionsText(notUsed, view),
    ...notes,
    ...wrapWords(line, { indent: "", width }).map((one) => paint("bold", one)),
    "",
  ].join("\n");
}

function isOrphan({ state }: DriftEntry): boolean {
  return state === "orphan";
}

function entryLines(entry: DriftEntry, { paint, width, now }: DriftView): readonly string[] {
  const { identity, state, file, line, changes } = entry;
  const head = `${paint(styles[state], padColumns(state, 10))} `;
  const place = file === null ? "" : `${file}:${line ?? 1}`;
  const title = titleLine(head, nameIn(null, identity), place, { paint, width: width - 9 });
  return [title, ...changeLines(changes, { paint, width, by: writerText(entry, now) })];
}
