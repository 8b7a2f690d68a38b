import { setTimeout as wait } from "node:timers/promises";
import type { PassObserver } from "../observer.ts";
import { passNotifications } from "./pass-notifications.ts";
import type { Delivery } from "./post.ts";
import { createReceiver, type ReceiverOptions } from "./receiver.ts";

/** Tells receivers what passes report, apart from the passes. */
export type Notifier = AsyncDisposable & { readonly observe: (target: string) => PassObserver };

// As long as an end may wait for a receiver.
const LAST_WORDS_MS = 2_000;

/** A notifier with its receivers; at the end it delivers what is waiting, for as long as that is bearable. */
export function createNotifier(receivers: readonly ReceiverOptions[], delivery: Delivery): Notifier {
  const all = receivers.map((options) => createReceiver(options, delivery));
  return {
    observe: (target) =>
      passNotifications(target, (notification) => {
        for (const receiver of all) receiver.add(notification);
      }),
    [Symbol.asyncDispose]: async () => {
      const idle = Promise.all(all.map((receiver) => receiver.idle()));
      await Promise.race([idle, wait(LAST_WORDS_MS, undefined, { ref: false })]);
      for (const receiver of all) receiver.stop();
      await idle;
    },
  };
}
