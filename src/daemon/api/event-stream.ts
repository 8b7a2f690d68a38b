import { Readable } from "node:stream";
import type { Clock } from "../../clock/clock.ts";
import type { StreamEvent } from "../../contract/stream-event.ts";
import { HttpError } from "../../http/http-error.ts";

/** The events of a daemon for those who follow it. */
export type EventStreams = Disposable & {
  readonly publish: (event: StreamEvent) => void;
  /** Whether anybody follows. */
  readonly isFollowed: () => boolean;
  /**
   * Opens a stream as server-sent events. `after` is the id of the last event that the reader had; `isAllowed` is asked again
   * now and then, and ends the stream. Refuses one stream too many.
   */
  readonly open: (reader: { readonly after: string | null; readonly isAllowed: () => boolean }) => Readable;
};

/** The options of event streams, with limits that keep their memory bounded. */
export type EventStreamOptions = {
  readonly clock: Clock;
  /** Names this process among those that a reader may have followed before. */
  readonly epoch: string;
  /** What the page was built from, so that one of an older build can load itself again. */
  readonly build: string;
  /** @default 200 */
  readonly maxStreams?: number;
  /** Events that a reader may catch up with. @default 2000 */
  readonly kept?: number;
  /** Bytes that wait for one slow reader before events are dropped for it. @default 256 KiB */
  readonly maxWaiting?: number;
};

// Proxies close what is silent for a minute.
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ": still here\n\n";
// How long a browser waits before it connects again.
const RETRY = "retry: 1000\n";

type Follower = {
  readonly stream: Readable;
  readonly isAllowed: () => boolean;
  /** Whether events were dropped, so that it must read everything anew. */
  isBehind: boolean;
};

/** Creates the streams of a daemon; disposal ends them. */
export function createEventStreams(options: EventStreamOptions): EventStreams {
  const { clock, epoch, build, maxStreams = 200, kept = 2000, maxWaiting = 256 * 1024 } = options;
  const followers = new Set<Follower>();
  const recent: string[] = [];
  let count = 0;
  const textOf = (event: StreamEvent, nth: number): string =>
    `id: ${epoch}-${nth}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`;
  const send = (follower: Follower, text: string): void => {
    if (follower.isBehind) return;
    if (follower.stream.readableLength + text.length > maxWaiting) follower.isBehind = true;
    else follower.stream.push(text);
  };
  const catchUp = (follower: Follower): void => {
    if (!follower.isBehind || !followers.has(follower)) return;
    follower.isBehind = false;
    follower.stream.push(textOf({ event: "snapshot-needed" }, count));
  };
  const finish = (follower: Follower): void => {
    followers.delete(follower);
    follower.stream.push(null);
  };
  const missed = (after: string): readonly string[] | null => {
    const [, of, nth] = /^(.+)-(\d{1,15})$/.exec(after) ?? [];
    const since = count - Number(nth);
    if (of !== epoch || since < 0 || since > recent.length) return null;
    return since === 0 ? [] : recent.slice(-since);
  };
  const beat = clock.every(
    HEARTBEAT_MS,
    () => {
      for (const follower of followers) {
        if (follower.isAllowed()) send(follower, HEARTBEAT);
        else finish(follower);
      }
    },
    { ref: false },
  );
  return {
    isFollowed: () => followers.size > 0,
    publish: (event) => {
      count += 1;
      const text = textOf(event, count);
      recent.push(text);
      // Now and then, since that moves the rest.
      if (recent.length > 2 * kept) recent.splice(0, recent.length - kept);
      for (const follower of followers) send(follower, text);
    },
    open: ({ after, isAllowed }) => {
      if (followers.size >= maxStreams) throw tooManyStreams(maxStreams);
      // Called when most of what waited was taken.
      const stream = new Readable({ read: () => catchUp(follower) });
      const follower: Follower = { stream, isAllowed, isBehind: false };
      followers.add(follower);
      stream.once("close", () => followers.delete(follower));
      stream.push(`${RETRY}${textOf({ event: "opened", build }, count)}`);
      const texts = after === null ? [] : missed(after);
      if (texts === null) follower.isBehind = true;
      for (const text of texts ?? []) send(follower, text);
      return stream;
    },
    [Symbol.dispose]: () => {
      beat[Symbol.dispose]();
      for (const follower of followers) finish(follower);
    },
  };
}

function tooManyStreams(most: number): HttpError {
  return new HttpError(503, "too-many-streams", `there are ${most} open streams, and no more are served`, {
    headers: { "retry-after": "30" },
  });
}
