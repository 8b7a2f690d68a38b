import { readFileSync } from "node:fs";
import { type Message, type MessageType, messageOf } from "./message.ts";
import { isAtLeast, type Notification, type NotificationEvent, type Severity, severities } from "./notification.ts";
import { type Delivery, type PostRequest, postWithRetry } from "./post.ts";

/** Who is told, and of what. */
export type ReceiverOptions = {
  readonly name: string;
  readonly type: MessageType;
  /** Where messages go: an address, or the file that holds it. */
  readonly url: { readonly text: string } | { readonly file: string };
  readonly tokenFile: string | null;
  /** Null for all. */
  readonly targets: readonly string[] | null;
  readonly events: readonly NotificationEvent[] | null;
  readonly severity: Severity;
};

/** A receiver with the notifications that wait for it; nobody waits for it. */
export type Receiver = {
  readonly add: (notification: Notification) => void;
  /** Resolves when everything is delivered or given up. */
  readonly idle: () => Promise<void>;
  /** Gives up what is left. */
  readonly stop: () => void;
};

// More than that at once are one message.
const STORM = 5;
const MAX_WAITING = 200;

/** A receiver of notifications: what comes while one is delivered is sent afterwards, in a storm as one digest. */
export function createReceiver(options: ReceiverOptions, delivery: Delivery): Receiver {
  const stopping = new AbortController();
  let waiting: readonly Notification[] = [];
  let working: Promise<void> | null = null;
  const work = async (): Promise<void> => {
    while (waiting.length > 0 && !stopping.signal.aborted) {
      const all = waiting;
      waiting = [];
      for (const part of all.length > STORM ? [all] : all.map((one) => [one]))
        await deliver(options, part, delivery, stopping.signal);
    }
    working = null;
  };
  return {
    add: (notification) => {
      if (!concerns(options, notification)) return;
      // The oldest goes: what holds now matters more.
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

function concerns({ targets, events, severity }: ReceiverOptions, { target, event }: Notification): boolean {
  if (targets !== null && target !== null && !targets.includes(target)) return false;
  return (events === null || events.includes(event)) && isAtLeast(severities[event], severity);
}

async function deliver(
  options: ReceiverOptions,
  notifications: readonly Notification[],
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  const message = messageOf(options.type, notifications, delivery.now());
  const why = await postWithRetry(() => requestTo(options, message), delivery, signal);
  if (why !== null) delivery.onTrouble(troubleText(options, why));
}

function troubleText({ name }: ReceiverOptions, why: string): string {
  return `notification to ${name} was not delivered: ${why}`;
}

// Read for each attempt: the operator may replace the files meanwhile.
function requestTo({ url, tokenFile }: ReceiverOptions, { headers, body }: Message): PostRequest {
  const address = "text" in url ? url.text : readFileSync(url.file, "utf8").trim();
  if (tokenFile === null) return { address, headers, body, hasToken: false };
  const token = readFileSync(tokenFile, "utf8").trim();
  return { address, headers: { ...headers, authorization: `Bearer ${token}` }, body, hasToken: true };
}
