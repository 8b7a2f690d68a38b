import type { PassRecord, ResourceEvent } from "../core/report/target-status.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { commitText, machineText, resultText } from "./status.ts";

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

/** The history of targets as text, newest last. */
export function historyText(targets: readonly HistoryView[]): string {
  return targets.map((view) => `${printable(view.target)}\n${linesOf(view).join("")}`).join("\n");
}

function linesOf({ passes, events = [], isCut = false, driftByDay = [] }: HistoryView): readonly string[] {
  if (passes !== undefined) {
    const lines = passes.map(
      (pass) => `  ${pass.endedAt}  ${commitText(pass)}${machineText(pass)}  ${resultText(pass)}\n`,
    );
    return lines.length === 0 ? ["  no pass yet\n"] : lines;
  }
  const days = driftByDay.map(
    ({ day, ...found }) => `  ${day}  ${count(found.events, "drift")} of ${count(found.resources, "resource")}\n`,
  );
  const lines = events.map((event) => `  ${eventText(event)}\n`);
  const older = isCut ? ["  older events are not shown\n"] : [];
  return events.length === 0 ? ["  no event in 90 days\n"] : [...days, ...older, ...lines];
}

function eventText({ at, commit, identity, state, rollout, hasDrifted, why }: ResourceEvent): string {
  const facts = [
    state,
    ...(rollout === null ? [] : [`rollout ${rollout}`]),
    ...(hasDrifted ? ["live had drifted"] : []),
  ].join(", ");
  const end = why === null ? facts : `${facts}: ${why}`;
  return `${at}  ${commit?.slice(0, 12) ?? "uncommitted"}  ${printable(identity)}  ${printable(end)}`;
}
