import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { PassObserver } from "../pass-observer.ts";
import type { Notification } from "./notification.ts";
import { passNotifications } from "./pass-notifications.ts";
import type { Delivery } from "./post.ts";
import { createReceiver, type Receiver, type ReceiverOptions } from "./receiver-queue.ts";

/** Tells receivers what passes report, apart from the passes. */
export type Notifier = AsyncDisposable & {
  readonly observe: (target: string) => PassObserver;
  readonly send: (notification: Notification) => void;
  /** Tells these from now on; what waits for one that was told before is still delivered. */
  readonly replaceReceivers: (receivers: readonly ReceiverOptions[]) => void;
};

// As long as an end may wait for a receiver.
const LAST_WORDS_MS = 2_000;

/** A notifier without receivers; at the end it delivers what is waiting, for as long as that is bearable. */
export function createNotifier(delivery: Delivery): Notifier {
  let current: readonly Told[] = [];
  const all = new Set<Receiver>();
  // Kept over all configurations: what was told once is not told again.
  const observers = new Map<string, PassObserver>();
  const send = (notification: Notification): void => {
    for (const { receiver } of current) receiver.add(notification);
  };
  const told = (options: ReceiverOptions): Told => {
    const known = current.find((one) => isDeepStrictEqual(one.options, options));
    if (known !== undefined) return known;
    const receiver = createReceiver(options, delivery);
    all.add(receiver);
    return { options, receiver };
  };
  return {
    send,
    replaceReceivers: (receivers) => {
      current = receivers.map(told);
    },
    observe: (target) => {
      const observer = observers.get(target) ?? passNotifications(target, send);
      observers.set(target, observer);
      return observer;
    },
    [Symbol.asyncDispose]: async () => {
      const idle = Promise.all([...all].map((receiver) => receiver.idle()));
      await Promise.race([idle, wait(LAST_WORDS_MS, undefined, { ref: false })]);
      for (const receiver of all) receiver.stop();
      await idle;
    },
  };
}

type Told = { readonly options: ReceiverOptions; readonly receiver: Receiver };
