import type { WatchEvent } from "../contract/generated/output.ts";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../core/diagnostic.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { ApplyEvent, KeptEvent, PassEvent } from "../core/report/events.ts";
import { placeText } from "../core/report/invalid-text.ts";
import { applyConclusion, isHolding } from "../core/report/pass-result.ts";
import { hasBadRollout, type Outcome } from "../core/report/report.ts";
import { isRunWarning } from "../core/run-warning.ts";
import { timestampText } from "../core/timestamp-text.ts";
import { applyLine } from "./apply.ts";
import { count, joinCounts } from "./count-text.ts";
import { severityCounts } from "./diagnostics.ts";
import { orphansText } from "./orphans.ts";
import { rolloutEndText } from "./outcome.ts";

/** A daemon's event, before its time and target are added. */
export type WatchEventBody = Omit<WatchEvent, "format_version" | "time" | "target">;

/** An event of the log of a daemon, which has more of them. */
export type WatchLogBody = Omit<WatchEventBody, "event"> & {
  readonly event: WatchEventBody["event"] | "recovered";
  readonly durationMs?: number;
};

/** The events that a pass event sends to the followers of a daemon; empty for intermediate steps. */
export function toWatchEvents(event: PassEvent): readonly WatchEventBody[] {
  switch (event.what) {
    case "read":
      return [readBody(event.diagnostics)];
    case "kept": {
      const { revision, message, hint, diagnostics } = event;
      return [
        {
          level: keptLevel(event),
          event: "kept",
          revision,
          identity: null,
          message,
          hint,
          diagnostics: [...diagnostics],
        },
      ];
    }
    case "planned": {
      const { revision, summary } = event.plan;
      const message = `planned: ${joinCounts(Object.entries(summary).map(([name, number]) => [number, name]))}`;
      return [{ level: "info", event: "planned", revision, identity: null, message, summary: { ...summary } }];
    }
    case "applied":
      return appliedBodies(event);
    case "rolled-out": {
      const { identity, rollout } = event;
      const level = hasBadRollout(event) ? "error" : "info";
      return [{ level, event: "rollout", revision: null, identity, message: rolloutEndText(event), rollout }];
    }
    case "waiting":
      return [infoEvent("waiting", event.text)];
    case "standing-by":
      return [infoEvent("lease", `standing by: ${event.message}`)];
    case "taking-over":
      return [infoEvent("lease", "taking over")];
    case "lease-taken":
      return [infoEvent("lease", "the lease was taken")];
    case "lease-lost":
      return [{ ...infoEvent("lease", event.message), level: "warn" }];
    case "warned":
      return event.warnings.map(({ summary }) => ({ ...infoEvent("lease", summary), level: "warn" }));
    default:
      return [];
  }
}

/** A warning about the daemon. */
export function warningEvent(warning: Diagnostic): WatchEventBody {
  return { ...infoEvent("warning", warning.summary), level: "warn", diagnostics: [warning] };
}

/** A daemon has started to follow a source. */
export function startedEvent(seconds: number): WatchEventBody {
  return infoEvent("started", `watching: a pass on every change, and every ${seconds} s`);
}

/** A pass has ended, and the daemon is idle until the next one. */
export function idleEvent(nextAt: number): WatchEventBody {
  const until = timestampText(nextAt);
  return { ...infoEvent("idle", `idle until ${until}, or a change`), until };
}

/** The resources that the source no longer declares; also without any, since the end of the last one is a change too. */
export function orphansEvent(steps: Plan["steps"]): WatchEventBody {
  const orphans = steps.filter(({ action }) => action === "orphan");
  const names = orphans.map(({ identity }) => identity).join(", ");
  const message =
    orphans.length === 0 ? "no orphans" : `${count(orphans.length, "orphan")} ${orphansText(orphans)}: ${names}`;
  return {
    ...infoEvent("orphans", message),
    orphans: orphans.flatMap(({ identity, kind, orphan }) =>
      orphan === undefined ? [] : [{ identity, kind, orphan }],
    ),
  };
}

/** The daemon was requested to stop, and has stopped. */
export const stoppedEvent: WatchEventBody = infoEvent("stopped", "stopped");

/** A pass has succeeded, after others that had not. */
export function recoveredEvent(milliseconds: number): WatchLogBody {
  const message = `recovered after ${Math.round(milliseconds / 1000)} s`;
  return { level: "info", event: "recovered", revision: null, identity: null, message, durationMs: milliseconds };
}

/** Why a pass has failed. */
export type PassFailure = {
  /** A target that is held, or waits for others, has not failed. */
  readonly level: "info" | "error";
  readonly message: string;
  readonly hint: string | null;
  readonly diagnostics: readonly Diagnostic[];
};

/** A pass has failed; the next one retries. */
export function failedEvent(failure: PassFailure): WatchEventBody {
  return { ...infoEvent("failed", failure.message), ...failure };
}

/** A target that is held, or waits for others, keeps its revision without a failure. */
export function keptLevel(event: KeptEvent): PassFailure["level"] {
  return isHolding(event) ? "info" : "error";
}

function infoEvent(event: WatchEventBody["event"], message: string): WatchEventBody {
  return { level: "info", event, revision: null, identity: null, message };
}

// The warnings about the run are told when they are found.
function readBody(found: Extract<PassEvent, { readonly what: "read" }>["diagnostics"]): WatchEventBody {
  const all = found.filter(({ code }) => !isRunWarning(code));
  const { errors, warnings } = severityCounts(all);
  const level = hasErrors(all) ? "error" : all.length > 0 ? "warn" : "info";
  const message = `the source was read: ${count(errors, "error")}, ${count(warnings, "warning")}`;
  return { ...infoEvent("read", message), level, diagnostics: sortDiagnostics(all) };
}

function appliedBodies({ report, tokens, plan, isPart }: ApplyEvent): readonly WatchEventBody[] {
  const { revision, outcomes, summary } = report;
  const { result: all, verdict, reasons } = applyConclusion({ report, plan });
  const end = {
    level: verdict === "failed" ? "error" : "info",
    event: all === "applied" ? "applied" : "incomplete",
  } as const;
  // The other reasons are told by the events of their resources.
  const waiting = reasons.flatMap(({ reason, message }) => (reason === "NotAdopted" ? `; ${reason}: ${message}` : []));
  const changed = outcomes.filter(({ result }) => result !== "unchanged");
  return [
    ...changed.map((outcome) => {
      const token = tokens.find((one) => one.identity === outcome.identity);
      return outcomeEvent(outcome, { revision, token: token?.location ?? null });
    }),
    { ...end, revision, identity: null, message: applyLine(report) + waiting.join(""), summary: { ...summary } },
    ...(isPart ? [] : [orphansEvent(plan.steps)]),
  ];
}

/** What became of one resource, and where its new token is. */
export function outcomeEvent(
  { identity, result, file, line, rollout, error }: Outcome,
  { revision, token }: { readonly revision: string | null; readonly token: string | null },
): WatchEventBody {
  const level = error === null || result === "skipped" ? "info" : "error";
  const where = token === null ? "" : `; its token is in ${token}`;
  const place = result === "invalid" ? ` (${placeText({ file, line })})` : "";
  const message = `${error === null ? result : `${result}: ${error.message}`}${place}${where}`;
  return { level, event: "outcome", revision, identity, message, result, rollout, error: error?.code ?? null };
}
