import { placeText } from "../core/report/invalid-text.ts";
import type { Outcome } from "../core/report/report.ts";
import { printable } from "./escape.ts";
import { type OutcomeView, outcomeHead } from "./outcome.ts";
import { cutStart } from "./text-width.ts";
import { wrapWords } from "./wrap.ts";

/** The position of an outcome's manifest (`file:line:column`), as exact as its error allows; null when unknown. */
export type PlaceOf = (outcome: Outcome) => string | null;

/** Layout of outcomes that need attention. */
export type FailedOutcomesView = OutcomeView & {
  readonly placeOf: PlaceOf;
  /** Whether the next pass starts automatically. */
  readonly isRepeated?: boolean;
};

const INDENT = " ".repeat(12);
/** Maximum number of resources named per cause; the rest is counted. */
const MAX_NAMES = 20;

const order = ["created", "updated", "unchanged", "skipped", "blocked", "unknown", "failed", "invalid"] as const;

/**
 * The outcomes that need attention, failures last: the resources of one cause, then the cause and what to do now. What is
 * the same for several causes stands once, under the last of them.
 */
export function failedOutcomeLines(outcomes: readonly Outcome[], view: FailedOutcomesView): readonly string[] {
  const sorted = outcomes.toSorted((a, b) => order.indexOf(a.result) - order.indexOf(b.result));
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

type Group = { readonly alike: readonly Outcome[]; readonly first: Outcome };

function groupLines({ alike, first }: Group, view: FailedOutcomesView): readonly string[] {
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
