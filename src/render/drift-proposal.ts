import type { DriftProposalReport } from "../contract/generated/output.ts";
import { count } from "./count-text.ts";
import { printable, printableDiff } from "./escape.ts";
import { wrappedLines } from "./wrap.ts";

/** What is proposed for git of the drift of a target, and what became of the pull request, as text. */
export function driftProposalText(
  { proposed, refused, files, pullRequest }: DriftProposalReport,
  { width }: { readonly width: number },
): string {
  const lines = refused.map(({ identity, detail }) => `  not proposed  ${printable(identity)}: ${printable(detail)}\n`);
  // A diff that is wrapped cannot be applied.
  const diffs = pullRequest === null ? files.map(diffText).join("") : "";
  const head = `Proposal: ${proposed.length === 0 ? "nothing to propose" : count(proposed.length, "resource")}`;
  const rest = refused.length === 0 ? "" : `, ${refused.length} not proposed`;
  const end = pullRequest === null ? "" : `; ${pullRequestText(pullRequest)}`;
  return wrappedLines(lines.join(""), width) + diffs + wrappedLines(`${head}${rest}${end}\n`, width);
}

/** What became of a pull request, with its address. */
export function pullRequestText({ result, number, url }: NonNullable<DriftProposalReport["pullRequest"]>): string {
  const where = url === null ? "" : `: ${printable(url)}`;
  if (result === "closed")
    return `pull request ${number} with this content was closed, and is not opened again${where}`;
  return `pull request ${number} ${result === "withdrawn" ? "is closed" : result}${where}`;
}

/** The diff of a file that is proposed; without its content where that has secrets. */
export function diffText({ path, diff }: DriftProposalReport["files"][number]): string {
  if (diff !== null) return printableDiff(diff);
  return `${printable(path)} contains secrets in plain text: its diff is not shown\n`;
}
