import type { AuditVerificationReport } from "../core/report/report.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { linesText } from "./wrap.ts";

type Finding = AuditVerificationReport["findings"][number];

/** What a verification of the audit log found, as text of a width. */
export function auditVerificationText(report: AuditVerificationReport, { width }: { readonly width: number }): string {
  const { rows, earlier, chains, checkpoints, findings, moreFindings, uncovered } = report;
  const wrong = findings.length + moreFindings;
  const lines = [
    `the audit log has ${count(rows, "row")} in ${count(chains, "chain")}, with ${count(checkpoints, "checkpoint")}`,
    ...(earlier === 0 ? [] : [`${count(earlier, "row")} of earlier releases cannot be verified: no chain has them`]),
    ...findings.map(findingText),
    ...(moreFindings === 0 ? [] : [`… and ${count(moreFindings, "more finding")}`]),
    ...uncovered.map(uncoveredText),
    wrong === 0
      ? "up to the newest checkpoint of each chain no row was changed, removed or inserted"
      : `${count(wrong, "finding")}: the audit log is not as it was written`,
  ];
  return lines.map((line) => linesText(printable(line), { indent: "", nextIndent: "  ", width })).join("");
}

function findingText({ kind, chain, from, to, id }: Finding): string {
  const which = from === to ? `row ${from}` : `rows ${from} to ${to}`;
  const of = `${which} of chain ${chain}`;
  switch (kind) {
    case "changed":
      return `changed: ${of}, id ${id}`;
    case "changed-version":
      return `changed: the manifest that ${of} is about, id ${id}`;
    case "removed":
      return `removed: ${of}`;
    case "inserted":
      return `inserted: row with the number ${from} of chain ${chain}, id ${id}`;
    case "unlinked":
      return `inserted: row without a chain, id ${id}`;
    case "unknown-key":
      return `cannot be verified: ${of} has a key that is not in this database, id ${id}`;
    case "forged-mark":
      return `changed: the mark at number ${from} of chain ${chain} was not signed by this control plane, id ${id}`;
  }
}

function uncoveredText({
  chain,
  from,
  to,
  rows,
  since,
  missing,
}: AuditVerificationReport["uncovered"][number]): string {
  const lost =
    missing === 0
      ? ""
      : `; ${count(missing, "number")} between them without a row: requests that a crash ended, or removed rows`;
  return `no checkpoint covers rows ${from} to ${to} of chain ${chain}: ${count(rows, "row")} since ${since}${lost}`;
}
