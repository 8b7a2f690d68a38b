import type { PassEvent } from "../../core/report/events.ts";
import { sourceRefusal } from "../../core/report/source-refusal.ts";
import { failedEvent, outcomeEvent, toWatchEvents, type WatchLogBody } from "../../render/watch-events.ts";
import type { Invocation } from "../command.ts";
import { logOf } from "./log-stream.ts";

/**
 * A listener that writes a pass to the log with the events of a daemon, each outcome as soon as it is known; null if
 * stderr is no log.
 */
export function passLog({ flags, terminal: { stderr, clock } }: Invocation): ((event: PassEvent) => void) | null {
  const log = logOf(stderr);
  if (log === null) return null;
  const begunAt = clock.now();
  const told = new Map<string, string | undefined>();
  let revision: string | null = null;
  const say = ({ level, message, ...fields }: WatchLogBody): void =>
    log[level]({ ...fields, revision: fields.revision ?? revision }, message);
  return (event) => {
    if (event.what === "read") revision = event.revision;
    if (event.what === "finished" && event.outcome.result !== "unchanged") {
      told.set(event.outcome.identity, event.outcome.result);
      say(outcomeEvent(event.outcome, { revision, token: null }));
    }
    for (const body of toWatchEvents(event)) {
      const { event: name, identity, result } = body;
      if (name === "outcome" && told.get(identity ?? "") === result) continue;
      const isEnd = name === "applied" || name === "incomplete";
      say(isEnd ? { ...body, durationMs: clock.now() - begunAt } : body);
    }
    if (event.what === "read" && event.isRefused) {
      const { message, hint } = sourceRefusal(event.diagnostics, flags);
      say(failedEvent({ message: `${message}, and nothing was sent`, hint, diagnostics: [] }));
    }
  };
}
