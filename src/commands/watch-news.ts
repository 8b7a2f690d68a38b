import type { WatchEvent } from "../contract/generated/output.ts";
import type { PassEvent } from "../core/events.ts";
import { jsonLine } from "../render/json.ts";
import { failedNews, idleNews, newsOf, startedNews, stoppedNews, type WatchNews } from "../render/watch-event.ts";
import type { Invocation } from "./command.ts";
import { failureOf } from "./failure.ts";
import { logOf } from "./json-log.ts";
import { markAnswered, type Terminal } from "./terminal.ts";

/** Reports what changes from one pass to the next, and nothing while nothing does. */
export type WatchReporter = {
  /** The target is followed from now on, with a pass every so many seconds. */
  readonly started: (seconds: number) => void;
  readonly tell: (event: PassEvent) => void;
  readonly failure: (error: unknown) => void;
  /** A pass is over, and the next one is due at that time. */
  readonly idle: (nextAt: number) => void;
  /** The target is followed no longer: because of an error, or because it was asked to end. */
  readonly ended: (error: unknown) => void;
};

/** What a failure of a pass says. */
export function failureIn(error: unknown): Required<Pick<WatchNews, "message" | "hint" | "diagnostics">> {
  const { hint = null, diagnostics = [] } = failureOf(error) ?? {};
  const message = error instanceof Error ? error.message : String(error);
  return { message, hint, diagnostics };
}

/** Writes each event as a line of JSON to stdout. */
export function eventReporter({ terminal }: Invocation, name: string | null): WatchReporter {
  markAnswered(terminal);
  return newsReporter((news) => {
    const target = name === null ? {} : { target: name };
    const time = new Date(terminal.now()).toISOString();
    const event: WatchEvent = { format_version: "2.0", time, ...target, ...news };
    terminal.stdout.write(jsonLine(event));
  });
}

/** Writes each event to the log. */
export function logReporter({ stderr }: Pick<Terminal, "stderr">): WatchReporter {
  return newsReporter(({ level, message, ...fields }) => logOf(stderr)?.[level](fields, message));
}

function newsReporter(write: (news: WatchNews) => void): WatchReporter {
  const last = new Map<WatchNews["event"], string>();
  const say = (news: WatchNews): void => {
    const text = JSON.stringify(news);
    // The state of the source is told when it changes.
    const isSame = last.get(news.event) === text && (news.event === "read" || news.event === "kept");
    last.set(news.event, text);
    if (!isSame) write(news);
  };
  return {
    started: (seconds) => say(startedNews(seconds)),
    tell: (event) => {
      for (const news of newsOf(event)) say(news);
    },
    failure: (error) => say(failedNews(failureIn(error))),
    idle: (nextAt) => say(idleNews(nextAt)),
    ended: (error) => say(error === null ? stoppedNews : failedNews(failureIn(error))),
  };
}
