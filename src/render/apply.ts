// src/render: reports as text and JSON. See docs/output.md#text.

import { dirname } from "node:path";
import type { HistoryReach } from "../contract/generated/output.ts";
import type { Identity } from "../core/manifest.ts";
import type { MissingExtension } from "../core/missing-extensions.ts";
import { placeText } from "../core/report/invalid-text.ts";
import { isHeld, isWhole } from "../core/report/pass-result.ts";
import type { ApplyReport, Outcome } from "../core/report/report.ts";
import { joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";
import { orphanLines, orphanNotes, type ShownOrphan } from "./orphans.ts";
import { needsAttention, type OutcomeView, outcomeHead, outcomeLines } from "./outcome.ts";
import { missingExtensionsText } from "./report-notes.ts";
import { cutStart } from "./text-width.ts";
import { linesText, sentenceText, wrapWords } from "./wrap.ts";

/** Layout of an apply's report. */
export type ApplyView = FailedOutcomesView & {
  /** Rows of the terminal; null when the output is not a terminal. */
  readonly rows: number | null;
  /** Resources that the source no longer declares. @default none */
  readonly orphans?: readonly ShownOrphan[];
  /** The number of orphans that a selection leaves out. @default 0 */
  readonly counted?: number;
  /** How far back the history was read for orphans; left out when the ledger knows them. */
  readonly history?: HistoryReach | undefined;
  /** Whether an outcome was shown when it happened. */
  readonly wasShown: (outcome: Outcome) => boolean;
};

/** Layout of outcomes that need attention. */
type FailedOutcomesView = OutcomeView & {
  /** The position of an outcome's manifest (`file:line:column`), as exact as its error allows; null when unknown. */
  readonly placeOf: (outcome: Outcome) => string | null;
  /** Whether the next pass starts automatically. */
  readonly isRepeated?: boolean;
};

const INDENT = " ".repeat(12);
/** Maximum number of resources named per cause; the rest is counted. */
const MAX_NAMES = 20;

const resultOrder = ["created", "updated", "unchanged", "skipped", "blocked", "unknown", "failed", "invalid"] as const;
/** Maximum number of tokens listed one by one; for the rest, only their folders. */
const MAX_TOKENS = 10;

/** `Applied: 2 created, 1 updated, 40 unchanged`, or `Incomplete: …` if not everything is as declared. */
export function applyLine(report: ApplyReport): string {
  const { created, updated, unchanged, skipped, blocked, failed, unknown, invalid } = report.summary;
  const text = joinCounts([
    [created, "created"],
    [updated, "updated"],
    [failed, "failed"],
    [unknown, "unknown"],
    [blocked, "blocked"],
    [skipped, "skipped"],
    [invalid, "invalid"],
    [unchanged, "unchanged"],
  ]);
  return `${isWhole(report) ? "Applied" : "Incomplete"}: ${text === "" ? "nothing is declared" : text}`;
}

/**
 * The outcomes of an apply, each resource once with its changed fields, without the unchanged ones; failures are last.
 */
export function applyLines({ outcomes }: ApplyReport, view: ApplyView): readonly string[] {
  const [bad, well] = [outcomes.filter(needsAttention), outcomes.filter((outcome) => !needsAttention(outcome))];
  const listed = well.filter((outcome) => outcome.result !== "unchanged" && !view.wasShown(outcome));
  return [...listed.flatMap((outcome) => outcomeLines(outcome, view)), ...failedOutcomeLines(bad, view)];
}

/** An apply's text report: the outcomes and a summary, or one line when nothing changed. */
export function applyText(report: ApplyReport, view: ApplyView, notUsed: readonly MissingExtension[] = []): string {
  const { paint, width, rows } = view;
  const summary = applyLine(report);
  const approved = approversLines(report, width);
  const { orphans: listed = [], counted = 0, history } = view;
  const orphans = [...orphanLines(listed, view), ...orphanNotes({ counted, history }, view)];
  if (report.outcomes.every(({ result, error }) => result === "unchanged" && error === null))
    return [...orphans, ...approved, summary, ""].join("\n");
  const lines = applyLines(report, view);
  const end = wrapWords(summary, { indent: "", width }).map((line) => paint("bold", line));
  const isLong = rows !== null && lines.length > rows;
  const top = isLong ? [...end, ""] : [];
  const left = orphans.length === 0 ? [] : [...orphans, ""];
  return [...top, ...lines, "", ...left, ...missingExtensionsText(notUsed, view), ...approved, ...end, ""].join("\n");
}

function approversLines({ approvers = [] }: ApplyReport, width: number): readonly string[] {
  if (approvers.length === 0) return [];
  const names = approvers.map(({ name }) => printable(name)).join(", ");
  return wrapWords(`Approved by ${names}`, { indent: "", width });
}

/**
 * The outcomes that need attention, failures last: the resources of one cause, then the cause and what to do now. What is
 * the same for several causes stands once, under the last of them.
 */
function failedOutcomeLines(outcomes: readonly Outcome[], view: FailedOutcomesView): readonly string[] {
  const sorted = outcomes.toSorted((a, b) => resultOrder.indexOf(a.result) - resultOrder.indexOf(b.result));
  const byCause = Map.groupBy(sorted, (outcome) => [outcome.result, causeOf(outcome), outcome.error?.role].join("\n"));
  const groups = [...byCause.values()].flatMap((alike) => {
    const [first] = alike;
    return first === undefined ? [] : [{ alike, first, next: nextStep(first, view) }];
  });
  return groups.flatMap((group, index) => {
    const isLast = groups[index + 1]?.next !== group.next;
    const next = isLast ? wrapWords(`→ ${group.next}`, { indent: INDENT, width: view.width }) : [];
    return [...groupLines(group, view), ...next];
  });
}

function groupLines(
  { alike, first }: { readonly alike: readonly Outcome[]; readonly first: Outcome },
  view: FailedOutcomesView,
): readonly string[] {
  const { paint, width } = view;
  const names = alike.slice(0, MAX_NAMES).flatMap((outcome) => {
    const place = outcome.result === "invalid" ? invalidPlace(outcome) : view.placeOf(outcome);
    const where =
      place === null ? [] : [INDENT + paint("dim", `at ${cutStart(printable(place), width - INDENT.length - 3)}`)];
    return [...outcomeHead(outcome, view), ...where];
  });
  const more = alike.length - MAX_NAMES;
  const rest = more > 0 ? wrapWords(`… and ${more} more; -o json lists them`, { indent: INDENT, width }) : [];
  const cause = wrapWords(causeOf(first), { indent: INDENT, width });
  return [...names, ...rest, ...cause];
}

// The place is the name of a manifest that has no other.
function invalidPlace(outcome: Outcome): string | null {
  return outcome.identity === "" ? null : placeText(outcome);
}

function causeOf({ error, rollout }: Outcome): string {
  if (error !== null) return `${printable(error.message)} [${printable(error.code)}]`;
  return rollout === "timeout"
    ? "it was written, and its rollout has not ended in time"
    : "it was written, and its rollout has failed";
}

function nextStep(outcome: Outcome, { isRepeated = false }: FailedOutcomesView): string {
  const { result, error, rollout } = outcome;
  if (error === null) {
    return rollout === "timeout"
      ? "it may still succeed: check it on the control plane, or wait longer with --wait-timeout"
      : "check it on the server; a corrected manifest starts a new rollout";
  }
  if (result === "invalid") return isRepeated ? "correct it" : "correct it: holdfast validate shows each error";
  const again = isRepeated ? "the next pass tries again" : "run apply again";
  if (result === "skipped") return isRepeated ? again : `${again}: it continues with the remaining resources`;
  if (isHeld(outcome)) return "holdfast status shows what holds it";
  if (error.code === "not-compared") return "where that matters, compare them by hand";
  if (error.code === "token-lost" || error.code === "token-undelivered") return "its token must be created again";
  if (result === "unknown") return `${again}: it first checks whether this was written`;
  const first = firstStep(outcome);
  if (first === null) return again;
  return isRepeated ? first : `${first}, then ${again}`;
}

// What to do before retrying; null when nothing is needed.
function firstStep({ result, error }: Outcome): string | null {
  const { status = 0, code = "", role } = error ?? {};
  if (code === "dependency") return "fix what it refers to";
  if (result === "blocked") return "fix that";
  if (status === 401) return "get a valid token";
  if (status === 403) return `give the token ${role ?? "write access"}, or ask someone who has it`;
  if (status === 409 || status === 412) return "wait until the conflicting operation has ended";
  return status >= 400 && status < 500 ? "correct the manifest" : null;
}

/** The locations of stored one-time tokens, one per line; a path is never broken. */
export function tokenLocationsText(
  tokens: readonly { readonly identity: Identity; readonly location: string }[],
  width: number,
): string {
  const shown = tokens
    .slice(0, MAX_TOKENS)
    .map(({ identity, location }) => sentenceText(`token of ${printable(identity)}: ${printable(location)}`, width));
  const rest = tokens.slice(MAX_TOKENS);
  if (rest.length === 0) return shown.join("");
  const folders = [...new Set(rest.map(({ location }) => dirname(location)))].map((folder) =>
    linesText(printable(folder), { indent: "  ", width }),
  );
  return `${shown.join("")}… and ${rest.length} more ${rest.length === 1 ? "token" : "tokens"}, in\n${folders.join("")}`;
}
