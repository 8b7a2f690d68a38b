import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { isSentInClear } from "../../http/loopback.ts";
import { type Message, type MessageType, messageOf } from "./message.ts";
import { isAtLeast, type Notification, type NotificationEvent, type Severity, severities } from "./notification.ts";

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

/** How messages are delivered. */
export type Delivery = {
  readonly now: () => number;
  /** Told what could not be delivered, and why. */
  readonly onTrouble: (text: string) => void;
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
  /** Milliseconds before each further attempt. */
  readonly backoffMs: readonly number[];
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
  if (targets !== null && !targets.includes(target)) return false;
  return (events === null || events.includes(event)) && isAtLeast(severities[event], severity);
}

async function deliver(
  options: ReceiverOptions,
  notifications: readonly Notification[],
  delivery: Delivery,
  signal: AbortSignal,
): Promise<void> {
  const message = messageOf(options.type, notifications, delivery.now());
  for (const pause of [0, ...delivery.backoffMs]) {
    try {
      if (pause > 0) await wait(pause, undefined, { signal });
      const attempt = await send(options, message, delivery.timeoutMs, signal);
      if (attempt.is === "delivered") return;
      if (attempt.is === "refused") return delivery.onTrouble(troubleText(options, attempt.why));
      if (pause === delivery.backoffMs.at(-1)) delivery.onTrouble(troubleText(options, attempt.why));
    } catch {
      // Stopped while it waited.
      return;
    }
  }
}

function troubleText({ name }: ReceiverOptions, why: string): string {
  return `notification to ${name} was not delivered: ${why}`;
}

type Attempt = { readonly is: "delivered" } | { readonly is: "refused" | "failed"; readonly why: string };

// The address may be a secret: nothing that quotes it is passed on.
async function send(
  { url, tokenFile }: ReceiverOptions,
  { headers, body }: Message,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Attempt> {
  let address: string;
  let authorization: { readonly authorization?: string };
  try {
    address = "text" in url ? url.text : readFileSync(url.file, "utf8").trim();
    authorization = tokenFile === null ? {} : { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
  } catch {
    return { is: "failed", why: "the file with its address or its token cannot be read" };
  }
  if (tokenFile !== null && isSentInClear(address))
    return { is: "refused", why: "a token is sent over https alone, or to this machine" };
  try {
    const answer = await fetch(address, {
      method: "POST",
      headers: { ...headers, ...authorization },
      body,
      // A redirect could lead anywhere, with what is told.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await answer.body?.cancel();
    return attemptOf(answer.status);
  } catch {
    return { is: "failed", why: "it cannot be reached, or does not answer" };
  }
}

function attemptOf(status: number): Attempt {
  if (status >= 200 && status < 300) return { is: "delivered" };
  const why = `it answered ${status}`;
  return { is: status >= 500 || status === 429 || status === 408 ? "failed" : "refused", why };
}
