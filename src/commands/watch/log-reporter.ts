import type { PassEvent } from "../../core/report/events.ts";
import {
  failedEvent,
  idleEvent,
  orphansEvent,
  recoveredEvent,
  startedEvent,
  toWatchEvents,
  type WatchLogBody,
} from "../../render/watch-events.ts";
import { logOf, tellOn } from "../output/log-stream.ts";
import type { Terminal } from "../terminal.ts";
import { failureIn, type WatchReporter } from "./event-reporter.ts";

/** Ends of a pass, which have its duration. */
const ENDS: ReadonlySet<WatchLogBody["event"]> = new Set(["applied", "incomplete", "planned", "failed"]);

/** Conditions that end with a successful pass: after that they are news again. */
const TROUBLE: readonly WatchLogBody["event"][] = ["failed", "kept", "incomplete"];

/**
 * Writes what changes to the log: a condition once when it begins and once when it ends, whatever the number of passes.
 * What an earlier line has said already is at level debug. The command itself logs why the target is no longer watched,
 * with its name.
 */
export function logReporter({ stderr, clock }: Terminal): WatchReporter {
  const news = createNews();
  let begunAt: number | null = null;
  let revision: string | null = null;
  let troubleSince: number | null = null;
  const said = new Set<WatchLogBody["event"]>();
  const say = (body: WatchLogBody): void => {
    const { level, message, ...fields } = body;
    said.add(body.event);
    const duration = ENDS.has(body.event) && begunAt !== null ? { durationMs: clock.now() - begunAt } : {};
    const entry = { ...fields, revision: body.revision ?? revision, ...duration };
    logOf(stderr)?.[news.isNew({ ...body, revision: entry.revision }) ? level : "debug"](entry, message);
  };
  return {
    begin: () => {
      begunAt = clock.now();
      revision = null;
      said.clear();
    },
    started: (seconds) => say(startedEvent(seconds)),
    emit: (event) => {
      revision = revisionOf(event) ?? revision;
      for (const body of toWatchEvents(event)) say(body);
      if (event.what === "unchanged") news.keepOutcomes([]);
      if (event.what === "applied" && !event.isPart) news.keepOutcomes(event.report.outcomes);
    },
    failure: (error) => say(failedEvent(failureIn(error))),
    end: ({ conclusion: { verdict }, times }) => {
      begunAt = null;
      if (verdict === "failed") troubleSince ??= times.startedAt;
      if (verdict === "succeeded" || verdict === "held") {
        // A hold lasts for many passes, so what this one has said of it is no news in the next.
        news.forget(TROUBLE.filter((event) => !said.has(event)));
        if (troubleSince !== null) say(recoveredEvent(times.endedAt - troubleSince));
        troubleSince = null;
      }
    },
    idle: (nextAt) => say(idleEvent(nextAt)),
    ended: (error) => tellOn(stderr, error),
  };
}

function revisionOf(event: PassEvent): string | null {
  return event.what === "read" ? event.revision : null;
}

type News = {
  /** Whether the log does not say it yet. */
  readonly isNew: (body: WatchLogBody) => boolean;
  /** Forgets what was said of resources that have no such outcome any more. */
  readonly keepOutcomes: (outcomes: readonly { readonly identity: string; readonly result: string }[]) => void;
  readonly forget: (events: readonly WatchLogBody["event"][]) => void;
};

function createNews(): News {
  // That there are no orphans is no news at the start.
  const last = new Map([["orphans", JSON.stringify(orphansEvent([]))]]);
  const outcomes = new Map<string, string>();
  const changes = (map: Map<string, string>, key: string, text: string): boolean => {
    const isNew = map.get(key) !== text;
    map.set(key, text);
    return isNew;
  };
  return {
    isNew: (body) => {
      const { event, identity, revision, message, level, error = null } = body;
      switch (event) {
        case "idle":
          return false;
        case "rollout":
        case "recovered":
          return true;
        case "outcome":
          // What was written is news every time; what could not be is news once, whatever the commit.
          return (level === "info" && error === null) || changes(outcomes, identity ?? "", message);
        case "applied":
          return changes(last, event, revision ?? "") || hasChanged(body);
        case "incomplete":
        case "kept":
          return changes(last, event, `${revision} ${withoutTimes(message)}`);
        default:
          return changes(last, event, JSON.stringify({ ...body, revision: null, message: withoutTimes(message) }));
      }
    },
    keepOutcomes: (all) => {
      const failed = new Set(all.filter(({ result }) => result !== "unchanged").map(({ identity }) => identity));
      for (const identity of outcomes.keys()) if (!failed.has(identity)) outcomes.delete(identity);
    },
    forget: (events) => {
      for (const event of events) last.delete(event);
    },
  };
}

// How long something has lasted grows in each pass, such as that of a soak.
function withoutTimes(message: string): string {
  return message.replaceAll(/\b\d+[smhd]\b(?: \d+[smhd]\b)?/g, "");
}

function hasChanged({ summary = {} }: WatchLogBody): boolean {
  return Object.entries(summary).some(([result, count]) => result !== "unchanged" && count > 0);
}
