import type { Change } from "../core/plan/plan.ts";
import { printable } from "./escape.ts";
import { type GrantChange, grantLines, splitGrants } from "./grants.ts";
import { sameLength } from "./look-alike.ts";
import type { Paint, Style } from "./paint.ts";
import { showSides } from "./show-value.ts";
import { textDiffLines } from "./text-diff.ts";
import { columnsOf, cutAround, cutEnd, cutStart, padColumns } from "./text-width.ts";

/** Layout of changes. */
export type ChangeView = {
  readonly paint: Paint;
  readonly width: number;
  /** Who wrote live and when, shown next to the first field that live changed, or may have; null when unknown. */
  readonly by: ((columns: number) => string) | null;
  /** The file of the manifest, so that changes whose values stand in patches name them; left out to name none. */
  readonly file?: string | null;
};

/** `patches/prod/api.yaml:3`: where the value of a change stands if not in the file of its manifest; else null. */
export function patchPlace(change: Change, manifestFile: string | null | undefined): string | null {
  const { file, line } = change;
  return file === undefined || manifestFile === undefined || file === manifestFile ? null : `${file}:${line ?? 1}`;
}

const INDENT = "    ";
const CAUSE_COLUMNS = 10;
/** The column where field names start. */
const labelStart = INDENT.length + CAUSE_COLUMNS + 1;
const MAX_LABEL_COLUMNS = 28;
/** Minimum columns for the values next to a field name. */
const MIN_VALUE_COLUMNS = 12;
/** Columns of one value in the summary of a change. */
const WIDEST_SUMMARY = 30;

const styles: { readonly [cause in Change["cause"]]: Style } = {
  manifest: "cyan",
  pending: "dim",
  drift: "magenta",
  conflict: "red",
  unrecorded: "yellow",
  default: "dim",
  server: "dim",
  ignored: "dim",
};

/** The causes with which live has moved, or may have. */
const movedCauses: readonly Change["cause"][] = ["drift", "conflict", "unrecorded"];

/** One entry for each differing field: cause, field, and the value on both sides. */
export function changeLines(changes: readonly Change[], view: ChangeView): readonly string[] {
  const { grants, others } = splitGrants(changes);
  const labels = others.map(({ label }) => fieldName(label));
  const most = Math.min(MAX_LABEL_COLUMNS, view.width - labelStart - 2 - MIN_VALUE_COLUMNS);
  const labelColumns = Math.min(most, Math.max(0, ...labels.map(columnsOf)));
  // All of a step's fields have the same author, who is named once.
  const first = others.find(({ cause }) => movedCauses.includes(cause));
  const isLeft = first === undefined && grants.some(({ cause }) => movedCauses.includes(cause));
  return [
    ...others.flatMap((change, index) => {
      const by = change === first ? view.by : null;
      return [
        ...linesOf(change, labels[index] ?? "", labelColumns, { ...view, by }),
        ...placeLines(patchPlace(change, view.file), view),
      ];
    }),
    ...grants.flatMap((grant) => causedGrantLines(grant, view)),
    ...(isLeft ? whoLines(view.by, view) : []),
  ];
}

function causedGrantLines(grant: GrantChange, { paint, width }: ChangeView): readonly string[] {
  const lines = grantLines(grant.sign, grant.text, { indent: " ".repeat(labelStart), paint, width });
  const cause = `${INDENT}${paint(styles[grant.cause], padColumns(grant.cause, CAUSE_COLUMNS))} `;
  return lines.map((line, index) => (index === 0 ? cause + line.slice(labelStart) : line));
}

/** A field's name without repetition: `image.image_uri` becomes `image`. */
export function fieldName(label: string): string {
  return printable(label.replace(/(^|\.)([a-z]+)\.\2_(?:uri|url)$/, "$1$2"));
}

function linesOf(change: Change, label: string, labelColumns: number, view: ChangeView): readonly string[] {
  const { paint, width, by } = view;
  const cause = paint(styles[change.cause], padColumns(change.cause, CAUSE_COLUMNS));
  const shownLabel = padColumns(cutEnd(label, labelColumns), labelColumns);
  const head = `${INDENT}${cause} ${shownLabel}`;
  const start = labelStart + labelColumns + 2;
  const room = width - start;
  const who = by === null ? "" : `  ${by(Number.POSITIVE_INFINITY)}`;
  if (isLineDiff(change)) {
    const counts = `lines: ${count(change.diff, "+")} added, ${count(change.diff, "-")} removed`;
    const indent = " ".repeat(INDENT.length + 2);
    const fits = columnsOf(counts) + columnsOf(who) <= room;
    return [
      `${head}  ${paint("dim", cutEnd(counts, room))}${fits ? who : ""}`,
      ...(fits ? [] : whoLines(by, view)),
      ...textDiffLines(change.diff, { paint, width, indent }),
    ];
  }
  const [before, after] = showSides(change.before, change.after);
  const values = `${before} → ${after}`;
  if (columnsOf(values) + columnsOf(who) <= room) return [`${head}  ${before} → ${after}${paint("dim", who)}`];
  const from = visibleFrom(before, after, room);
  return [
    `${head}  ${cutAround(before, from, room)}`,
    `${" ".repeat(start - 2)}→ ${cutAround(after, from, room)}`,
    ...whoLines(by, view),
  ];
}

// Below the values, from the column of the field names: there is room for the subject and the time.
function whoLines(writer: ((columns: number) => string) | null, { paint, width }: ChangeView): readonly string[] {
  return writer === null ? [] : [" ".repeat(labelStart) + paint("dim", writer(width - labelStart))];
}

function placeLines(place: string | null, { paint, width }: ChangeView): readonly string[] {
  if (place === null) return [];
  return [" ".repeat(labelStart) + paint("dim", cutStart(printable(place), width - labelStart))];
}

function isLineDiff(change: Change): change is Change & { readonly diff: string } {
  const isLines = (value: Change["before"]): boolean => typeof value === "string" && value.includes("\n");
  return change.diff !== null && (isLines(change.before) || isLines(change.after));
}

function count(diff: string, mark: string): number {
  return diff.split("\n").filter((line) => line.startsWith(mark)).length;
}

// A word that does not fit is cut to start shortly before its first difference.
function visibleFrom(before: string, after: string, room: number): number {
  const [word, same] = [changedFrom(before, after), sameLength(before, after)];
  return same - word > room / 2 ? same - Math.floor(room / 4) : word;
}

/** A change of two texts without their common prefix, such as the repository of two images. */
export function withoutSharedStart(change: Change): Change {
  const { before, after } = change;
  if (typeof before !== "string" || typeof after !== "string" || change.diff?.includes("\n ") === true) return change;
  const from = changedFrom(before, after);
  return { ...change, before: before.slice(from), after: after.slice(from) };
}

/** A change in a few words: the field with both values, or the number of changed lines. */
export function changeSummary(change: Change): string {
  const label = fieldName(change.label);
  const why = change.cause === "manifest" ? "" : ` (${change.cause})`;
  if (isLineDiff(change)) return `${label} +${count(change.diff, "+")} −${count(change.diff, "-")} lines${why}`;
  const { before, after } = withoutSharedStart(change);
  const [was, is] = showSides(before, after);
  const same = sameLength(was, is);
  const start = same < WIDEST_SUMMARY / 2 ? 0 : same - WIDEST_SUMMARY / 3;
  const [from, to] = [was, is].map((value) => cutAround(value, start, WIDEST_SUMMARY));
  return `${label} ${from} → ${to}${why}`;
}

// The offset of the word in which two texts start to differ.
function changedFrom(before: string, after: string): number {
  return before.slice(0, sameLength(before, after)).search(/[^/:@=\s,"]*$/);
}
