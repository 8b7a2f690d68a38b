import { isObject } from "../../contract/json.ts";
import { needsAdoption } from "../../core/guards/adoption.ts";
import { isDrifted, type Plan } from "../../core/plan/plan.ts";
import type { ApplyEvent, PassEvent } from "../../core/report/events.ts";
import { isHeld, type PassConclusion, reasonsText } from "../../core/report/pass-result.ts";
import { hasBadRollout } from "../../core/report/report.ts";
import { count } from "../../render/count-text.ts";
import type { PassObserver } from "../pass-observer.ts";
import type { Notification, NotificationEvent } from "./notification.ts";

const MAX_DETAILS = 20;

/**
 * Turns the events of a target's passes into notifications: one when a condition begins or changes, and a recovery when the
 * last failure has cleared.
 */
export function passNotifications(target: string, send: (notification: Notification) => void): PassObserver {
  let notified = new Map<string, string>();
  // Whether people were told of trouble since the last pass that succeeded.
  let isBad = false;
  const notify = (notification: Omit<Notification, "target">): void => {
    const { event, summary, details } = notification;
    const content = JSON.stringify([summary, details]);
    if (notified.get(event) === content) return;
    notified.set(event, content);
    send({ target, ...notification });
  };
  const notifyOrClear = (
    event: NotificationEvent,
    revision: string | null,
    summary: string,
    all: readonly string[],
  ) => {
    if (all.length === 0) notified.delete(event);
    else notify({ event, revision, summary, details: shortened(all) });
  };
  const planned = (plan: Plan): void => {
    const drifted = plan.steps.filter(isDrifted).map(({ identity }) => identity);
    notifyOrClear("drift", plan.revision, `${count(drifted.length, "resource")} moved in live`, drifted);
    const unadopted = plan.steps.filter(needsAdoption).map(({ identity }) => identity);
    const summary = `${count(unadopted.length, "resource")} to be adopted, or allowed with --allow-adopt`;
    notifyOrClear("adopt-needed", plan.revision, summary, unadopted);
  };
  const applied = ({ report, plan }: ApplyEvent): void => {
    planned(plan);
    const failed = report.outcomes.filter(isFailed).map(outcomeLine);
    notifyOrClear("failure", report.revision, `${count(failed.length, "resource")} failed`, failed);
    const held = report.outcomes.filter(isHeld).map(({ identity, error }) => `${identity}: ${error?.message}`);
    notifyOrClear("held", report.revision, `${count(held.length, "resource")} on hold`, held);
  };
  return {
    memory: {
      name: "notifications",
      told: () => ({ notified: Object.fromEntries(notified), isBad }),
      recall: (told) => {
        const known = isObject(told) ? told : {};
        const contents = Object.entries(isObject(known.notified) ? known.notified : {});
        notified = new Map(contents.map(([event, content]) => [event, String(content)]));
        isBad = known.isBad === true;
      },
    },
    emit: (event: PassEvent) => {
      if (event.what === "applied") applied(event);
      if (event.what === "planned") planned(event.plan);
      if (event.what === "rolled-out" && hasBadRollout(event)) {
        const summary = event.rollout === "timeout" ? "a rollout has not ended in time" : "a rollout failed";
        notify({ event: "failure", revision: null, summary, details: [event.identity] });
      }
    },
    failure: () => {},
    end: ({ seen, conclusion }) => {
      const revision = (seen.applied?.report ?? seen.planned?.plan)?.revision ?? null;
      switch (conclusion.verdict) {
        case "superseded":
          return;
        case "held":
          // The end of a pass that applied something has named the resources.
          if (conclusion.result === "kept")
            notify({ event: "held", revision, summary: textOf(conclusion.reasons), details: [] });
          return;
        case "failed":
          isBad = true;
          return notify({ event: "stalled", revision, summary: stalledText(conclusion), details: [] });
        case "succeeded":
          notified.delete("stalled");
          if (isBad) send(recovery(target, revision));
          isBad = false;
      }
    },
  };
}

function stalledText({ result, reasons }: PassConclusion): string {
  const text = textOf(reasons);
  // A halted target waits for others, and its source has no fault.
  const isRefused = result === "kept" && reasons.every(({ reason }) => reason !== "Halted");
  return (isRefused ? `the source is refused: ${text}` : text).slice(0, MAX_SUMMARY);
}

function textOf(reasons: PassConclusion["reasons"]): string {
  return (reasonsText(reasons) ?? "").slice(0, MAX_SUMMARY);
}

const MAX_SUMMARY = 500;

function recovery(target: string, revision: string | null): Notification {
  return { event: "recovery", target, revision, summary: "passes succeed again", details: [] };
}

type Outcome = ApplyEvent["report"]["outcomes"][number];

function isFailed(outcome: Outcome): boolean {
  return outcome.result === "failed" || outcome.result === "unknown" || hasBadRollout(outcome);
}

// The code without the message: a receiver is a third party, and an error of the control plane may quote refused values.
function outcomeLine({ identity, result, rollout, error }: Outcome): string {
  if (error !== null) return `${identity}: ${result} (${error.code})`;
  return `${identity}: rollout ${rollout}`;
}

function shortened(all: readonly string[]): readonly string[] {
  if (all.length <= MAX_DETAILS) return all;
  return [...all.slice(0, MAX_DETAILS), `and ${all.length - MAX_DETAILS} more`];
}
