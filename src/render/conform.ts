import type { ConformCheck, ConformReport } from "../contract/generated/output.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { linesText } from "./wrap.ts";

type View = { readonly paint: Paint; readonly width: number };

/** What was found of a control plane, as text of a width: what does not hold first, then what was not checked. */
export function conformText(report: ConformReport, view: View): string {
  const { checks, operations, left } = report;
  const of = (result: ConformCheck["result"]): readonly ConformCheck[] => checks.filter((one) => one.result === result);
  const [failed, lacking] = partition(of("fails"), ({ part }) => part !== "extension");
  const unchecked = operations.filter(({ result }) => result === "not-checked").map(({ number }) => number);
  const verdict = line(verdictText(report), "", view);
  return [
    verdict,
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
      "Stays on the control plane",
      left.map((one) => line(one, "  ", view)),
      view,
    ),
    `\n${verdict}`,
  ].join("");
}

function verdictText({ server, conforms, operations, summary }: ConformReport): string {
  const checked = operations.filter(({ result }) => result !== "not-checked").length;
  const verdict = conforms ? "conforms, as far as it was checked" : "does not conform";
  const { holds, fails, notChecked } = summary;
  const counts = `${holds} hold, ${fails} ${fails === 1 ? "does" : "do"} not, ${notChecked} were not made`;
  return `${server} ${verdict}: ${checked} of ${count(operations.length, "operation")} checked; of the checks, ${counts}`;
}

function failureText(
  { check, operations, asserts, without, reason, required, part }: ConformCheck,
  view: View,
): string {
  const mark = required ? "x" : "-";
  const head = `${mark} ${check} (${operations.join(", ")}): ${asserts}`;
  return [
    line(head, "  ", view),
    ...(part === "extension" ? [] : [line(`found: ${reason ?? ""}`, "      ", view)]),
    line(`so: ${without}`, "      ", view),
  ].join("");
}

// Most have one of a few reasons.
function byReason(checks: readonly ConformCheck[], view: View): readonly string[] {
  const groups = Map.groupBy(checks, ({ reason }) => reason ?? "");
  return [...groups].map(([reason, all]) => line(`${reason}: ${all.map(({ check }) => check).join(", ")}`, "  ", view));
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
