import { readGivenText } from "../../files/read-given-file.ts";
import { type Message, type MessageType, messageOf } from "./message.ts";
import { isAtLeast, type Notification, type NotificationEvent, type Severity, severities } from "./notification.ts";
import { type Delivery, type PostRequest, postWithRetry } from "./post.ts";

/** A receiver of notifications, and which of them it receives. */
export type Subscription = {
  readonly name: string;
  readonly type: MessageType;
  /** The address for messages, or the file that holds it. */
  readonly url: { readonly text: string } | { readonly file: string };
  readonly tokenFile: string | null;
  /** Null for all targets. */
  readonly targets: readonly string[] | null;
  /** Null for all events. */
  readonly events: readonly NotificationEvent[] | null;
  readonly severity: Severity;
};

/** The delivery queue of a receiver; delivery never blocks a pass. */
export type Receiver = {
  readonly add: (notification: Notification) => void;
  /** Resolves when every notification is delivered or dropped. */
  readonly idle: () => Promise<void>;
  /** Drops the notifications that are left. */
  readonly stop: () => void;
};

// More waiting notifications than this are sent as one digest.
const DIGEST_THRESHOLD = 5;
const MAX_WAITING = 200;

/** Creates the queue of a receiver: notifications that arrive during a delivery are sent after it, many of them as one digest. */
export function createReceiver(options: Subscription, delivery: Delivery): Receiver {
  const stopping = new AbortController();
  let waiting: readonly Notification[] = [];
  let working: Promise<void> | null = null;
  const work = async (): Promise<void> => {
    while (waiting.length > 0 && !stopping.signal.aborted) {
      const all = waiting;
      waiting = [];
      for (const part of all.length > DIGEST_THRESHOLD ? [all] : all.map((one) => [one]))
        await deliver(options, part, delivery, stopping.signal);
    }
    working = null;
  };
  return {
    add: (notification) => {
      if (!concerns(options, notification)) return;
      // The oldest is dropped: the current state matters more.
      if (waiting.length === MAX_WAITING) delivery.onDrop?.(options.name);
      waiting = [...waiting, notification].slice(-MAX_WAITING);
      working ??= Promise.resolve()
        .then(work)
        .catch((error: unknown) => {
          working = null;
          delivery.onTrouble(troubleText(options, error instanceof Error ? error.name : "unknown error"));
        });
    },
    idle: async () => {
      while (working !== null) await working;
    },
    stop: () => stopping.abort(),
  };
}

function concerns({ targets, events, severity }: Subscription, { target, event }: Notification): boolean {
  if (targets !== null && target !== null && !targets.includes(target)) return false;
  return (events === null || events.includes(event)) && isAtLeast(severities[event], severity);
}

async function deliver(
  options: Subscription,
  notifications: readonly Notification[],
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  const message = messageOf(options.type, notifications, delivery.clock.now());
  const why = await postWithRetry(() => requestTo(options, message), delivery, signal);
  delivery.onEnd?.(options.name, why === null ? "delivered" : "failed");
  if (why !== null) delivery.onTrouble(troubleText(options, why));
}

function troubleText({ name }: Subscription, why: string): string {
  return `notification to ${name} was not delivered: ${why}`;
}

// The files are read for each attempt, because the operator may replace them in the meantime.
function requestTo({ url, tokenFile }: Subscription, { headers, body }: Message): PostRequest {
  const address = "text" in url ? url.text : readGivenText(url.file).trim();
  if (tokenFile === null) return { address, headers, body, hasToken: false };
  const token = readGivenText(tokenFile).trim();
  return { address, headers: { ...headers, authorization: `Bearer ${token}` }, body, hasToken: true };
}
