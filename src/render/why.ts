import type { Json } from "../contract/json.ts";
import { gateAnswerText, placedGateName } from "../core/gates/content-gate.ts";
import type { Change } from "../core/plan/plan.ts";
import type { WhyReport } from "../core/report/report.ts";
import { changeLines } from "./change.ts";
import { printable } from "./escape.ts";
import { verdictText } from "./gate-verdict.ts";
import { writerText } from "./last-write.ts";
import type { Paint } from "./paint.ts";

/** The origin of a value: who declared it, who wrote it, and who changed it since. */
export function whyText(
  { identity, pointer, wanted, written, live, gates = [], changes = [], changedSince = [] }: WhyReport,
  view: { readonly paint: Paint; readonly width: number },
): string {
  return [
    `${printable(identity)}${pointer === "" ? "" : `  ${printable(pointer)}`}`,
    `  wanted   ${shown(wanted.value, pointer)}`,
    `           ${printable(wanted.file)}:${wanted.line}`,
    ...authorLines(wanted),
    ...(written === null
      ? ["  written  nothing is recorded"]
      : [
          `  written  ${shown(written.value, pointer)}`,
          `           ${written.at}${versionText(written.version)}${commitText(written)}`,
        ]),
    ...(live === null
      ? ["  live     absent, or it cannot be read"]
      : [`  live     ${shown(live.value, pointer)}`, `           ${liveText(live)}`]),
    ...gates.map(({ verdict, summary, at, ...gate }) =>
      verdict === null
        ? `  gate     not asked about this content: ${printable(placedGateName(gate))}`
        : `  gate     ${verdictText[verdict]} at ${at}: ${printable(gateAnswerText({ ...gate, summary: summary ?? "" }))}`,
    ),
    ...fieldLines("differs: live → wanted", changes, { ...view, file: wanted.file }),
    ...fieldLines("written by somebody else since, and as wanted: written → live", changedSince, view),
    "",
  ].join("\n");
}

function fieldLines(
  title: string,
  changes: readonly Change[],
  view: { readonly paint: Paint; readonly width: number; readonly file?: string },
): readonly string[] {
  if (changes.length === 0) return [];
  const byWriter = Map.groupBy(changes, ({ changedBy }) => JSON.stringify(changedBy ?? null));
  const groups = [...byWriter.values()].flatMap((group) => {
    const [first] = group;
    return changeLines(group, { ...view, by: writerText({ changedBy: first?.changedBy }, null) });
  });
  return [`  ${title}`, ...groups];
}

function authorLines({ commit, author, at, isOldest }: WhyReport["wanted"]): readonly string[] {
  if (commit === null) return ["           not committed, or git cannot tell"];
  const older = isOldest ? ", or an earlier commit that was not fetched" : "";
  return [`           commit ${commit.slice(0, 12)} of ${printable(author ?? "")}, ${at}${older}`];
}

function liveText({ version, subject, at, cause, isSince }: NonNullable<WhyReport["live"]>): string {
  const by = subject === null ? "by an unknown subject" : `by ${printable(subject)}`;
  const when = at === null ? "" : `, ${printable(at)}`;
  const since = isSince ? "changed since we wrote" : cause === null ? "as wanted" : cause;
  const what = version === null ? "written" : `newest version${versionText(version)}`;
  return `${since}; ${what} ${by}${when}`;
}

const versionText = (version: number | null) => (version === null ? "" : ` v${version}`);

function commitText({ commit, isUncommitted }: NonNullable<WhyReport["written"]>): string {
  if (commit === null) return isUncommitted ? ", uncommitted" : "";
  return `, for commit ${commit.slice(0, 12)}`;
}

// The whole manifest does not fit on a line.
function shown(value: Json, pointer: string): string {
  if (value === null) return "not set";
  const text = JSON.stringify(value);
  if (text.length <= MAX_VALUE_LENGTH) return printable(text);
  return pointer === "" ? "(the whole manifest)" : `${printable(text.slice(0, MAX_VALUE_LENGTH))}…`;
}

const MAX_VALUE_LENGTH = 60;
