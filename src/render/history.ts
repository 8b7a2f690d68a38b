import type { PassRecord, ResourceEvent } from "../core/report/target-status.ts";
import { changeLines } from "./change.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { rolloutEndText } from "./outcome.ts";
import { plain } from "./paint.ts";
import { commitText, machineText, resultText } from "./status.ts";
import { wrappedLines } from "./wrap.ts";

/** The history of a target: its passes, or events of resources. */
export type HistoryView = {
  readonly target: string;
  readonly passes?: readonly PassRecord[];
  /** Oldest first, of each resource that was asked for. */
  readonly events?: readonly ResourceEvent[];
  /** Whether there are older events that are not shown. */
  readonly isCut?: boolean;
  /** Oldest first. */
  readonly driftByDay?: readonly { readonly day: string; readonly events: number; readonly resources: number }[];
};

/** The history of targets as text of a width, newest last. */
export function historyText(targets: readonly HistoryView[], width: number): string {
  const texts = targets.map((view) => `${printable(view.target)}\n${linesOf(view, width).join("")}`);
  return wrappedLines(texts.join("\n"), width);
}

function linesOf(
  { passes, events = [], isCut = false, driftByDay = [] }: HistoryView,
  width: number,
): readonly string[] {
  if (passes !== undefined) {
    const lines = passes.map(
      (pass) => `  ${pass.endedAt}  ${pass.action === undefined ? passText(pass) : actionText(pass)}\n`,
    );
    return lines.length === 0 ? ["  no pass yet\n"] : lines;
  }
  const days = driftByDay.map(
    ({ day, ...found }) => `  ${day}  ${count(found.events, "drift")} of ${count(found.resources, "resource")}\n`,
  );
  const lines = events.map((event) => `  ${eventText(event)}\n${writtenText(event, width)}`);
  const older = isCut ? ["  older events are not shown\n"] : [];
  return events.length === 0 ? ["  no event in 90 days\n"] : [...days, ...older, ...lines];
}

function passText(pass: PassRecord): string {
  const { approvers = [] } = pass;
  const approved = approvers.length === 0 ? "" : `; approved by ${approvers.map(printable).join(", ")}`;
  const id = pass.pass === undefined ? "" : `; pass ${printable(pass.pass)}`;
  return `${commitText(pass)}${machineText(pass)}  ${resultText(pass)}${approved}${id}`;
}

// What a person has asked for on the dashboard.
function actionText(pass: PassRecord): string {
  return `action${machineText(pass)}  ${printable(pass.message ?? "")}`;
}

function eventText({ at, commit, identity, state, hasDrifted, why, changedBy, ...event }: ResourceEvent): string {
  const facts = [
    state,
    ...(event.rollout === null ? [] : [rolloutEndText(event)]),
    ...(hasDrifted ? [`live had drifted${byText(changedBy)}`] : []),
  ].join(", ");
  const end = why === null ? facts : `${facts}: ${why}`;
  return `${at}  ${commit?.slice(0, 12) ?? "uncommitted"}  ${printable(identity)}  ${printable(end)}`;
}

function writtenText({ changed }: ResourceEvent, width: number): string {
  if (changed === undefined) return "";
  const { fields, leftOut } = changed;
  const more = leftOut === 0 ? [] : [`    … and ${count(leftOut, "more field")}, of which nothing is kept`];
  return [...changeLines(fields, { paint: plain, width, by: null }), ...more].map((line) => `${line}\n`).join("");
}

function byText(changedBy: ResourceEvent["changedBy"]): string {
  const { subject = null } = changedBy ?? {};
  return subject === null ? "" : ` by ${subject}`;
}
