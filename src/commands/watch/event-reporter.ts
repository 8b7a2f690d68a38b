// src/commands/watch: the flags and the text of watch; the daemon itself is in src/daemon. See docs/pod.md#the-daemon.

import { errorMessage } from "../../contract/error-message.ts";
import type { WatchEvent } from "../../contract/generated/output.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import { isHolding } from "../../core/report/pass-result.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { jsonLine } from "../../render/escape.ts";
import {
  failedEvent,
  idleEvent,
  orphansEvent,
  type PassFailure,
  startedEvent,
  stoppedEvent,
  toWatchEvents,
  type WatchEventBody,
  warningEvent,
} from "../../render/watch-events.ts";
import { SourceError } from "../../source/source-error.ts";
import type { Invocation } from "../command.ts";
import { toHoldfastError } from "../errors/to-holdfast-error.ts";
import { markAnswered, type Terminal } from "../terminal.ts";

/** Reports what changes from one pass to the next; a pass without a change reports nothing. */
export type WatchReporter = PassObserver & {
  /** The target is watched from now on, with a pass every `seconds`. */
  readonly started: (seconds: number) => void;
  /** A pass has ended, and the next one is due at `nextAt`. */
  readonly idle: (nextAt: number) => void;
};

/** The message, hint and diagnostics of a failed pass. */
export function failureIn(error: unknown): PassFailure {
  const { hint = null, diagnostics = [] } = toHoldfastError(error) ?? {};
  const message = errorMessage(error);
  const level = error instanceof SourceError && isHolding(error) ? "info" : "error";
  return { level, message, hint, diagnostics };
}

/** Writes each event as a line of JSON to stdout. */
export function eventReporter({ terminal }: Invocation, name: string | null): WatchReporter {
  markAnswered(terminal);
  return changeReporter((body) => {
    const target = name === null ? {} : { target: name };
    const time = new Date(terminal.clock.now()).toISOString();
    const event: WatchEvent = { format_version: FORMAT_VERSION, time, ...target, ...body };
    terminal.stdout.write(jsonLine(event));
  });
}

/** Returns a function that writes a warning about the run as a line of JSON to stdout. */
export function writeWarning({ clock, stdout }: Terminal): (warning: Diagnostic) => void {
  return (warning) => {
    const time = new Date(clock.now()).toISOString();
    stdout.write(jsonLine({ format_version: FORMAT_VERSION, time, ...warningEvent(warning) } satisfies WatchEvent));
  };
}

const REPORTED_ONCE: ReadonlySet<WatchEventBody["event"]> = new Set(["read", "kept", "orphans"]);

const NO_ORPHANS = JSON.stringify(orphansEvent([]));

function changeReporter(write: (body: WatchEventBody) => void): WatchReporter {
  const last = new Map<WatchEventBody["event"], string>();
  const say = (body: WatchEventBody): void => {
    const text = JSON.stringify(body);
    // The state of the source and the list of orphans are reported only when they change.
    const isSame = (last.get(body.event) ?? NO_ORPHANS) === text && REPORTED_ONCE.has(body.event);
    last.set(body.event, text);
    if (!isSame) write(body);
  };
  return {
    started: (seconds) => say(startedEvent(seconds)),
    emit: (event) => {
      for (const body of toWatchEvents(event)) say(body);
    },
    failure: (error) => say(failedEvent(failureIn(error))),
    idle: (nextAt) => say(idleEvent(nextAt)),
    ended: (error) => say(error === null ? stoppedEvent : failedEvent(failureIn(error))),
  };
}
