import type { ImportReport } from "../contract/generated/output.ts";
import { changeLines } from "./change.ts";
import { count, joinCounts } from "./count-text.ts";
import { jsonText, printable } from "./escape.ts";
import type { OutputFormat } from "./output-format.ts";
import type { Paint } from "./paint.ts";
import { unreadLines } from "./plan.ts";
import { wrappedLines } from "./wrap.ts";

/** Layout of the report of an import. */
export type ImportView = {
  readonly output: OutputFormat;
  readonly width: number;
  readonly paint: Paint;
  /** The folder that was imported into, as it was named. */
  readonly folder: string;
};

/** The report of an import: what was not written, with the reason, and the counts. */
export function importReport(report: ImportReport, { output, width, paint, folder }: ImportView): string {
  if (output === "json") return jsonText(report);
  const { resources, unread, unseen, undeclared, summary } = report;
  const skipped = resources.flatMap(({ identity, result, why = "", detail = "" }) =>
    result === "skipped" ? [`  skipped  ${printable(identity)}: ${whyTexts[why]} (${printable(detail)})`] : [],
  );
  const differing = resources.filter(({ result }) => result === "differs").map(({ identity }) => identity);
  const differs = differing.map((identity) => `  differs  ${printable(identity)}: declared otherwise, left as it is`);
  const updated = resources
    .filter(({ result }) => result === "updated")
    .flatMap((one) => updateLines(one, paint, width));
  const lines = [
    ...updated,
    ...skipped,
    ...differs,
    ...(differs.length === 0 ? [] : ["holdfast import --update ID changes its manifest to what is live."]),
    ...unreadLines(unread, width),
    ...(unseen === null ? [] : [`  not seen: ${printable(unseen)}`]),
    ...externalLines(undeclared),
    ...countLines(summary, folder),
  ];
  return wrappedLines(lines.map((line) => `${line}\n`).join(""), width);
}

// The values are those of the manifest before and after.
function updateLines(
  { identity, file, changes = [] }: ImportReport["resources"][number],
  paint: Paint,
  width: number,
): readonly string[] {
  const head = `${paint("yellow", "~")} ${printable(identity)}  ${paint("dim", printable(file ?? ""))}`;
  return [head, ...changeLines(changes, { paint, width, by: null })];
}

const whyTexts: { readonly [why: string]: string } = {
  "literal-secret": "it holds a secret in plain text",
  disabled: "it is disabled",
  "not-declarable": "no manifest would leave it as it is",
  invalid: "its manifest would be refused",
  absent: "it does not exist",
  unreadable: "it was not found",
  "not-editable": "its file cannot be changed in place",
};

const LISTED = 10;

// With these the manifests are valid although nothing here declares what they refer to.
function externalLines(undeclared: readonly string[]): readonly string[] {
  if (undeclared.length === 0) return [];
  const shown = undeclared.slice(0, LISTED).map((identity) => JSON.stringify(identity));
  const more = undeclared.length > LISTED ? [`  … and ${undeclared.length - LISTED} more; -o json lists them`] : [];
  return [
    `Manifests refer to ${count(undeclared.length, "resource")} that no manifest declares. For validate and plan, add to holdfast.yaml:`,
    "external:",
    ...shown.map((identity) => `  - ${printable(identity)}`),
    ...more,
  ];
}

function countLines(
  { written, updated, unchanged, differs, skipped }: ImportReport["summary"],
  folder: string,
): readonly string[] {
  const counts = joinCounts([
    [updated, "updated"],
    [unchanged, "unchanged"],
    [differs, differs === 1 ? "differs" : "differ"],
    [skipped, "skipped"],
  ]);
  const head = written === 0 ? (updated === 0 ? "nothing written" : "") : `${written} written to ${printable(folder)}`;
  const text = [head, counts].filter((part) => part !== "").join(", ");
  return [`Import: ${text}`, ...(written + updated === 0 ? [] : ["Next: holdfast plan"])];
}
