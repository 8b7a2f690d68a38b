import { isDeepStrictEqual } from "node:util";
import type { PassObserver } from "../pass-observer.ts";
import type { Notification } from "./notification.ts";
import { passNotifications } from "./pass-notifications.ts";
import type { Delivery } from "./post.ts";
import { createReceiver, type Receiver, type Subscription } from "./receiver-queue.ts";

/** Sends the notifications of passes to receivers; passes never wait for it. */
export type Notifier = AsyncDisposable & {
  readonly observe: (target: string) => PassObserver;
  readonly send: (notification: Notification) => void;
  /** Replaces the receivers; notifications that wait for an earlier receiver are still delivered. */
  readonly replaceReceivers: (receivers: readonly Subscription[]) => void;
};

// How long shutdown waits for deliveries.
const DRAIN_MS = 2_000;

/** Creates a notifier without receivers; its disposal delivers waiting notifications for at most two seconds. */
export function createNotifier(delivery: Delivery): Notifier {
  let current: readonly ActiveReceiver[] = [];
  const all = new Set<Receiver>();
  // Kept when the configuration changes, so that no notification is sent twice.
  const observers = new Map<string, PassObserver>();
  const send = (notification: Notification): void => {
    for (const { receiver } of current) receiver.add(notification);
  };
  const activate = (options: Subscription): ActiveReceiver => {
    const known = current.find((one) => isDeepStrictEqual(one.options, options));
    if (known !== undefined) return known;
    const receiver = createReceiver(options, delivery);
    all.add(receiver);
    return { options, receiver };
  };
  return {
    send,
    replaceReceivers: (receivers) => {
      current = receivers.map(activate);
    },
    observe: (target) => {
      const observer = observers.get(target) ?? passNotifications(target, send);
      observers.set(target, observer);
      return observer;
    },
    [Symbol.asyncDispose]: async () => {
      const idle = Promise.all([...all].map((receiver) => receiver.idle()));
      await Promise.race([idle, delivery.clock.sleep(DRAIN_MS, { ref: false })]);
      for (const receiver of all) receiver.stop();
      await idle;
    },
  };
}

type ActiveReceiver = { readonly options: Subscription; readonly receiver: Receiver };
