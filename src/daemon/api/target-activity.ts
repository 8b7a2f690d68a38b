import type { Clock } from "../../clock/clock.ts";
import type { PassProgress } from "../../contract/generated/output.ts";
import type { StreamEvent } from "../../contract/stream-event.ts";
import { redactFailureMessage } from "../../core/redact/redact-message.ts";
import type { PassEvent } from "../../core/report/events.ts";
import { isSuccess } from "../../core/report/report.ts";
import { uploadingText } from "../../render/progress.ts";
import type { PassObserver } from "../pass-observer.ts";
import type { PassJob } from "../pass-queue.ts";

/** What this process does with its targets now. */
export type TargetActivity = {
  readonly observe: (target: string) => PassObserver;
  /** Drops all targets except these. */
  readonly keep: (targets: readonly string[]) => void;
  /** The pass in progress; null if there is none. */
  readonly passOf: (target: string) => PassProgress | null;
  /** Called when another process has changed what is known of a target. */
  readonly outdated: (target: string) => void;
  /** Called when something other than a pass has changed what is known of a target. */
  readonly changed: (target: string) => void;
  /** Grows whenever what is known of a target may have changed. */
  readonly versionOf: (target: string) => number;
};

/** Who is told of it. */
export type ActivityListener = {
  readonly publish: (event: StreamEvent) => void;
  /** Called when the status of a target may have changed. */
  readonly onChange: (target: string) => void;
};

type Writable<Type> = { -readonly [field in keyof Type]: Type[field] };

type Activity = {
  pass: Writable<PassProgress> | null;
  version: number;
  /** When the progress is told next; null if nothing has happened since it was told. */
  due: Disposable | null;
};

/** A pass that sends a thousand writes in a second tells its progress ten times. */
const PROGRESS_MS = 100;

/** Follows the passes of a daemon. */
export function createTargetActivity(clock: Clock, { publish, onChange }: ActivityListener): TargetActivity {
  const targets = new Map<string, Activity>();
  const of = (target: string): Activity => {
    const known = targets.get(target) ?? { pass: null, version: 0, due: null };
    targets.set(target, known);
    return known;
  };
  const tell = (event: "pass-began" | "progress" | "pass-ended", target: string, { pass }: Activity): void =>
    publish({ event, target, pass: pass && { ...pass } });
  const tellSoon = (target: string, known: Activity): void => {
    known.due ??= clock.after(
      PROGRESS_MS,
      () => {
        known.due = null;
        if (known.pass !== null) tell("progress", target, known);
      },
      { ref: false },
    );
  };
  const changed = (target: string): void => {
    of(target).version += 1;
    onChange(target);
  };
  return {
    outdated: (target) => {
      of(target).version += 1;
    },
    changed,
    passOf: (target) => targets.get(target)?.pass ?? null,
    versionOf: (target) => targets.get(target)?.version ?? 0,
    keep: (names) => {
      for (const target of targets.keys()) if (!names.includes(target)) targets.delete(target);
    },
    observe: (target) => {
      const rest = (): void => {
        const known = of(target);
        const hadPass = known.pass !== null;
        known.pass = null;
        if (hadPass) tell("pass-ended", target, known);
        changed(target);
      };
      return {
        begin: (job) => {
          const known = of(target);
          known.pass = begun(job, clock.now());
          tell("pass-began", target, known);
        },
        emit: (event) => {
          const known = of(target);
          if (known.pass !== null && follow(known.pass, event)) tellSoon(target, known);
          const outcome = outcomeOf(target, event);
          if (outcome !== null) publish(outcome);
          if (ENDS.includes(event.what)) known.version += 1;
          if (TURNS.includes(event.what)) changed(target);
        },
        failure: () => {},
        dropped: rest,
        stored: rest,
        ended: rest,
      };
    },
  };
}

/** The events after which the states of resources are others. */
const ENDS: readonly string[] = ["applied", "planned"] satisfies readonly PassEvent["what"][];

/** The events that change a status during or after a pass. */
const TURNS: readonly string[] = [
  "standing-by",
  "taking-over",
  "lease-taken",
  "lease-lost",
  "rolled-out",
] satisfies readonly PassEvent["what"][];

const MAX_WHY = 500;

function outcomeOf(target: string, event: PassEvent): StreamEvent | null {
  if (event.what === "rolled-out") {
    const { identity, rollout } = event;
    return { event: "outcome", target, identity, state: null, rollout, why: null };
  }
  if (event.what !== "finished") return null;
  const { identity, result, rollout, error } = event.outcome;
  const why = error === null ? null : redactFailureMessage(error.message).slice(0, MAX_WHY);
  return { event: "outcome", target, identity, state: result, rollout, why };
}

function begun({ cause, scope }: PassJob, now: number): Writable<PassProgress> {
  return {
    startedAt: new Date(now).toISOString(),
    cause,
    scope,
    phase: "reading",
    detail: null,
    commit: null,
    writes: null,
    written: 0,
    failed: 0,
  };
}

/** Whether an event changes the progress of a pass, which it then does. */
function follow(pass: Writable<PassProgress>, event: PassEvent): boolean {
  switch (event.what) {
    case "listing":
      pass.detail = `${event.rows} rows of ${event.kind}`;
      return true;
    case "uploading":
      pass.detail = `${event.identity}: ${uploadingText(event)}`;
      return true;
    case "read":
    case "kept":
      pass.commit = event.revision;
      return true;
    case "standing-by":
      pass.phase = "waiting";
      pass.detail = event.message;
      return true;
    case "taking-over":
      pass.phase = "reading";
      pass.detail = null;
      return true;
    case "planned":
      pass.phase = "planned";
      pass.detail = null;
      return true;
    case "begun":
      pass.phase = "writing";
      pass.detail = null;
      pass.writes = event.steps;
      return true;
    case "waiting":
      pass.detail = event.text;
      return true;
    case "finished":
      pass.written += 1;
      if (!isSuccess(event.outcome.result)) pass.failed += 1;
      return true;
    default:
      return false;
  }
}
