import type { StageStatus, StageTargetStatus, StatusDocument } from "../contract/generated/output.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { lastAppliedText, placeText } from "../core/report/invalid-text.ts";
import type { FreezeStatus, InvalidStatus, PassRecord, TargetStatus } from "../core/report/target-status.ts";
import { joinCounts } from "./count-text.ts";
import { jsonText, printable } from "./escape.ts";
import { closedGateTexts, gateCountsText } from "./gate-verdict.ts";
import { MANY_TARGETS } from "./many-targets.ts";
import type { OutputFormat } from "./output-format.ts";
import { registryOnlyTexts } from "./registry-only.ts";
import { wrappedLines } from "./wrap.ts";

/** The status of targets, as JSON, or as text that keeps to the width. */
export function statusReport(
  report: Omit<StatusDocument, "format_version">,
  { format, width }: { readonly format: OutputFormat; readonly width: number },
): string {
  const { targets, stages, daemon } = report;
  return format === "json"
    ? jsonText({ format_version: FORMAT_VERSION, ...report } satisfies StatusDocument)
    : wrappedLines(statusText(targets, daemon) + stagesText(stages), width);
}

function statusText(targets: readonly TargetStatus[], daemon: { readonly pid: number } | null): string {
  const head = daemon === null ? "No daemon runs here; this is what the last run has left.\n" : "";
  return head + (targets.length < MANY_TARGETS ? targets.map(targetText).join("\n") : manyStatusesText(targets));
}

// What needs attention comes first and as a whole, and every other target is one line.
function manyStatusesText(targets: readonly TargetStatus[]): string {
  const { line = [], whole = [] } = Object.groupBy(targets, (one) => (isQuiet(one) ? "line" : "whole"));
  const longest = Math.max(...line.map(({ target }) => target.length));
  const conditions = Map.groupBy(targets, ({ condition }) => condition);
  const synced = targets.filter(({ sync }) => sync === "Synced").length;
  const counts = joinCounts([...conditions].map(([condition, those]) => [those.length, condition]));
  return [
    ...whole.toSorted((a, b) => rankOf(a) - rankOf(b)).map((one) => `${targetText(one)}\n`),
    ...line.map((one) => `${printable(one.target).padEnd(longest)}  ${lineText(one)}\n`),
    `${targets.length} targets: ${counts}; ${synced} Synced\n`,
  ].join("");
}

function isQuiet(status: TargetStatus): boolean {
  const { sync, condition, reason, message, frozen, invalid, held, unknown, gates, registryOnly = [] } = status;
  const isAsWanted = (sync === "Synced" && condition === "Ready" && reason === null) || reason === "NeverRun";
  const noted = [...invalid, ...held, ...unknown, ...(gates?.closed ?? []), ...registryOnly];
  return isAsWanted && message === null && frozen === null && noted.length === 0;
}

function rankOf({ condition }: TargetStatus): number {
  return condition === "Stalled" ? 0 : condition === "Retired" ? 2 : 1;
}

function lineText({ sync, condition, reason, appliedRevision }: TargetStatus): string {
  if (reason !== null) return `${sync}, ${condition} (${reason})`;
  return `${sync}, ${condition} at ${appliedRevision?.slice(0, 12) ?? "no commit"}`;
}

// One stage has no order to show, unless a person holds it.
function stagesText(stages: readonly StageStatus[]): string {
  if (stages.length < 2 && stages.every(({ state }) => state !== "Held")) return "";
  const lines = stages.flatMap(({ name, after, state, targets }) => [
    `${printable(name)}  ${state}${after.length === 0 ? "" : `, after ${printable(after.join(", "))}`}`,
    ...targets.map((target) => `  ${printable(stageTargetText(target))}`),
  ]);
  return `\nStages\n${lines.map((line) => `${line}\n`).join("")}`;
}

function stageTargetText({ target, state, commit, message }: StageTargetStatus): string {
  const place = commit === null ? "no commit" : commit.slice(0, 12);
  return `${target}  ${state} at ${place}${message === null ? "" : `: ${message}`}`;
}

function targetText(status: TargetStatus): string {
  const { target, source, sync, condition, reason, message, invalid, lastPass, nextPassAt, oldestUnapplied } = status;
  const why = reason === null ? "" : ` (${reason})`;
  // Only a local folder has content without a commit.
  const isRead = source === null && lastPass !== null && reason !== "NeverRun";
  const wanted = status.wantedRevision ?? (isRead ? "uncommitted" : "no commit");
  const lines = [
    `${printable(target)}  ${sync}, ${condition}${why}`,
    ...(message === null ? [] : [`  ${printable(message)}`]),
    ...invalid.map((one) => `  invalid   ${printable(invalidText(one))}`),
    `  source    ${source === null ? "the local folder" : printable(source)}`,
    `  wanted    ${wanted}`,
    `  applied   ${status.appliedRevision ?? "no commit"}`,
    ...(oldestUnapplied === null ? [] : [`  unapplied ${oldestUnapplied.commit}, since ${oldestUnapplied.since}`]),
    ...(lastPass === null ? [] : [`  last pass ${lastPass.endedAt}${machineText(lastPass)}: ${resultText(lastPass)}`]),
    ...(nextPassAt === null ? [] : [`  next pass ${nextPassAt}`]),
    ...freezeLines(status),
    ...registryOnlyTexts(status.registryOnly ?? []).map((text) => `  registry  held by the registry alone: ${text}`),
    ...gateLines(status.gates),
    ...status.held.map((what) => `  held      ${printable(what)}`),
    ...status.unknown.map((identity) => `  unknown   ${printable(identity)}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function gateLines(gates: TargetStatus["gates"]): readonly string[] {
  if (gates === undefined) return [];
  return [
    `  gates     ${gateCountsText(gates)}`,
    ...closedGateTexts(gates).map((text) => `  gate      ${printable(text)}`),
  ];
}

function freezeLines({ frozen, nextFreeze }: TargetStatus): readonly string[] {
  return [
    ...(frozen === null ? [] : [`  frozen    ${freezeEnd(frozen)}`]),
    ...(nextFreeze === null ? [] : [`  freeze    from ${nextFreeze.from} ${freezeEnd(nextFreeze)}`]),
  ];
}

function freezeEnd({ until, reason }: FreezeStatus): string {
  const end = until === null ? "without a known end" : `until ${until}`;
  return reason === null ? end : `${end}: ${printable(reason)}`;
}

/** The commit of a pass; a source that could not be read has no known one. */
export function commitText({ commit, result }: PassRecord): string {
  const isRead = result !== "failed" && result !== "kept";
  return commit?.slice(0, 12) ?? (isRead ? "uncommitted" : "no commit").padEnd(12);
}

/** The result of a pass with its reason and counts. */
export function resultText({ result, reason, counts }: PassRecord): string {
  return `${result}${reason === null ? "" : ` (${reason})`}${countsText(counts)}`;
}

function countsText(counts: PassRecord["counts"]): string {
  const text = joinCounts(Object.entries(counts).map(([name, count]) => [count, name]));
  return text === "" ? "" : `: ${text}`;
}

/** An invalid manifest, its error, and what stays in force of its resource, as one line. */
function invalidText({ identity, file, line, message, lastGood }: InvalidStatus): string {
  const name = identity === "" ? "" : ` ${identity}`;
  return `${placeText({ file, line })}${name}: ${message}; ${lastAppliedText(lastGood)}`;
}

/** The process that ran a pass, where several share the passes. */
export function machineText({ machine }: PassRecord): string {
  return machine === undefined ? "" : ` on ${printable(machine)}`;
}
