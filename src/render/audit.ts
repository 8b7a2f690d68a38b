import type { AuditRow } from "../contract/generated/resources.ts";
import type { Json } from "../contract/json.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { linesText } from "./wrap.ts";

/** A row of the audit log: what was done, which fields changed, and the facts of the request, wrapped to a width. */
export function auditRowText(row: AuditRow, { width }: { readonly width: number }): string {
  const { changes = [], moreChanges = 0 } = row;
  const more = moreChanges === 0 ? [] : [`… and ${count(moreChanges, "more field")}`];
  const fields = changes.map(({ field, before, after }) => `${field}: ${valueText(before)} → ${valueText(after)}`);
  const facts = factsOf(row).join(", ");
  return [
    linesText(printable(headOf(row)), { indent: "", nextIndent: "  ", width }),
    ...[...fields, ...more].map((line) => linesText(printable(line), { indent: "    ", nextIndent: "      ", width })),
    ...(facts === "" ? [] : [linesText(printable(facts), { indent: "    ", nextIndent: "    ", width })]),
  ].join("");
}

function headOf({
  at,
  subject,
  operation,
  resource,
  outcome,
  status,
  code,
  created,
  dryRun,
  count: number,
}: AuditRow): string {
  const what = number === undefined ? `${operation} ${resource}` : count(number, "further request");
  const why = status === undefined ? "" : ` (${status} ${code ?? ""})`;
  const end = outcome === "done" ? (created === true ? ": created" : "") : `: ${outcome}${why}`;
  return `${at}  ${subject}  ${what}${dryRun === true ? " (dry run)" : ""}${end}`;
}

function factsOf({ token, actor, address, requestId, commit, pass, planner, approvers }: AuditRow): readonly string[] {
  const facts = { with: token, for: actor, from: address, request: requestId, commit, pass };
  const plan = { "planned by": planner, "approved by": approvers?.join(" and ") };
  return Object.entries({ ...facts, ...plan }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
}

function valueText(value: unknown): string {
  if (value === undefined) return "(none)";
  return typeof value === "string" ? value : JSON.stringify(value as Json);
}
