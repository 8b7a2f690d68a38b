import type { ConformCheck, ConformReport } from "../contract/generated/output.ts";
import { MISSING_EXTENSION } from "../core/missing-extensions.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { linesText } from "./wrap.ts";

type View = { readonly paint: Paint; readonly width: number };

/** What was found of a control plane, as text of a width: what does not hold first, then what was not checked. */
export function conformText(report: ConformReport, view: View): string {
  const { checks, operations, left } = report;
  const of = (result: ConformCheck["result"]): readonly ConformCheck[] => checks.filter((one) => one.result === result);
  const [failed, lacking] = partition(of("fails"), ({ reason }) => reason !== MISSING_EXTENSION);
  const unchecked = operations.filter(({ result }) => result === "not-checked").map(({ number }) => number);
  const verdict = line(verdictText(report), "", view);
  const { ended, summary } = report;
  if (ended !== null && summary.holds + summary.fails === 0) return verdict;
  return [
    verdict,
    isAnyOtherServer(operations) ? line(`→ ${OTHER_SERVER}`, "", view) : "",
    section(
      "Does not hold",
      failed.map((one) => failureText(one, view)),
      view,
    ),
    section(
      "Extensions that it lacks",
      lacking.map((one) => failureText(one, view)),
      view,
    ),
    section(
      "Operations that were not checked",
      unchecked.length === 0 ? [] : [line(unchecked.join(", "), "  ", view)],
      view,
    ),
    section("Not checked", byReason(of("not-checked"), view), view),
    section(
      "Holds",
      of("holds").length === 0
        ? []
        : [
            line(
              of("holds")
                .map(({ check }) => check)
                .join(", "),
              "  ",
              view,
            ),
          ],
      view,
    ),
    section(
      "Stays on the control plane, where it was written",
      left.map((one) => line(one, "  ", view)),
      view,
    ),
    `\n${verdict}`,
  ].join("");
}

// Each operation that was checked fails.
function isAnyOtherServer(operations: ConformReport["operations"]): boolean {
  const results = new Set(operations.map(({ result }) => result));
  return results.has("fails") && !results.has("holds");
}

const OTHER_SERVER =
  "check that --server is the control plane's own address, and that no gateway or sign-in page answers in its place";

function verdictText(report: ConformReport): string {
  const { server, operations, summary, ended } = report;
  const checked = operations.filter(({ result }) => result !== "not-checked").length;
  const { holds, fails, notChecked } = summary;
  const one = (number: number, verb: string, plural: string): string => `${number} ${number === 1 ? verb : plural}`;
  const of = count(operations.length, "operation");
  const [held, failed] = [one(holds, "holds", "hold"), one(fails, "does not", "do not")];
  const counts = `${held}, ${failed}, ${one(notChecked, "was not made", "were not made")}`;
  const early = ended === null ? "" : `; the checks ended early: ${ended}`;
  return `${server} ${verdictOn(report)}: ${checked} of ${of} checked; of the checks, ${counts}${early}`;
}

function verdictOn({ conforms, ended, operations, checks }: ConformReport): string {
  if (conforms) return "conforms, as far as it was checked";
  if (checks.some(({ result, required }) => required && result === "fails")) return "does not conform";
  const isUnknown = ended !== null || operations.every(({ result }) => result === "not-checked");
  return isUnknown ? "is not known to conform" : "does not conform";
}

function failureText({ check, operations, asserts, without, reason, required }: ConformCheck, view: View): string {
  const mark = required ? "x" : "-";
  const head = `${mark} ${check} (${operations.join(", ")}): ${asserts}`;
  return [
    line(head, "  ", view),
    ...(reason === MISSING_EXTENSION ? [] : [line(`found: ${reason ?? ""}`, "      ", view)]),
    line(`so: ${without}`, "      ", view),
  ].join("");
}

// Most have one of a few reasons.
function byReason(checks: readonly ConformCheck[], view: View): readonly string[] {
  const groups = Map.groupBy(checks, ({ reason }) => reason ?? "");
  return [...groups].map(
    ([reason, all]) => line(reason, "  ", view) + line(all.map(({ check }) => check).join(", "), "      ", view),
  );
}

function section(title: string, texts: readonly string[], { paint }: View): string {
  return texts.length === 0 ? "" : `\n${paint("bold", title)}\n${texts.join("")}`;
}

function line(text: string, indent: string, { width }: View): string {
  return linesText(printable(text), { indent, nextIndent: `${indent}  `, width });
}

function partition<Row>(
  rows: readonly Row[],
  isFirst: (row: Row) => boolean,
): readonly [readonly Row[], readonly Row[]] {
  return [rows.filter(isFirst), rows.filter((row) => !isFirst(row))];
}
