import { resolve } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { runWarning } from "../../core/run-warning.ts";
import { createStatusWriter } from "../../daemon/commit-status/status-writer.ts";
import type { Meter } from "../../daemon/meter.ts";
import type { Notification } from "../../daemon/notify/notification.ts";
import type { Notifier } from "../../daemon/notify/notifier.ts";
import type { Delivery } from "../../daemon/notify/post.ts";
import type { Subscription } from "../../daemon/notify/receiver-queue.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { statusPlace } from "../../forge/status-request.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

type Entry = NonNullable<OperatorConfig["notifications"]>[number];

const TIMEOUT_MS = 10_000;
const RETRIES = { retries: 4, backoff: { first: 1_000, most: 120_000, growth: 5 } };

/** Sends the notifications of `watch`; its receivers can change with the configuration. */
export type WatchNotifier = AsyncDisposable & {
  /** Replaces the receivers by those of a configuration. */
  readonly configure: (config: OperatorConfig) => Promise<void>;
  readonly observe: (target: string) => readonly PassObserver[];
  readonly send: (notification: Notification) => void;
};

/** Creates a notifier; its code is loaded when a configuration first names a receiver. */
export function createWatchNotifier(terminal: Terminal & { readonly meter: Meter | undefined }): WatchNotifier {
  let notifier: Notifier | null = null;
  return {
    configure: async ({ notifications }) => {
      const receivers = receiversOf(notifications, terminal.cwd);
      if (notifier === null && receivers.length > 0) {
        const { createNotifier } = await import("../../daemon/notify/notifier.ts");
        notifier = createNotifier(deliveryTo(terminal, "notifications"));
      }
      notifier?.replaceReceivers(receivers);
    },
    observe: (target) => (notifier === null ? [] : [notifier.observe(target)]),
    send: (notification) => notifier?.send(notification),
    [Symbol.asyncDispose]: async () => notifier?.[Symbol.asyncDispose](),
  };
}

/** The receivers that a configuration names; refuses a receiver without an address. */
export function receiversOf(notifications: OperatorConfig["notifications"], cwd: string): readonly Subscription[] {
  return (notifications ?? []).map((entry) => receiverOf(entry, cwd));
}

/** The delivery settings of `watch`: a failed delivery is a warning, and each is counted. */
function deliveryTo(
  { clock, warnings, meter }: Terminal & { readonly meter: Meter | undefined },
  what: "notifications" | "commitStatuses",
): Delivery {
  return {
    clock,
    onTrouble: (text) => warnings.add(runWarning("not-delivered", text)),
    onEnd: (name, result) => meter?.count(what, name, result),
    onDrop: (receiver) => meter?.count("notifications", receiver, "dropped"),
    timeoutMs: TIMEOUT_MS,
    ...RETRIES,
  };
}

function receiverOf(entry: Entry, cwd: string): Subscription {
  const { name, type, tokenFile, targets, events, severity } = entry;
  return {
    name,
    type,
    url: addressOf(entry, cwd),
    tokenFile: tokenFile ? resolve(cwd, tokenFile) : null,
    targets: targets ?? null,
    events: events ?? null,
    severity: severity ?? "info",
  };
}

function addressOf({ name, url, urlFile }: Entry, cwd: string): Subscription["url"] {
  if (url && !urlFile) return { text: url };
  if (urlFile && !url) return { file: resolve(cwd, urlFile) };
  throw new HoldfastError("invalid", `the configuration is refused: notification ${name} needs url or urlFile`, {
    hint: "give exactly one of them",
  });
}

/** The observers that write the commit status of each applied commit; none if the source has no `commitStatus`. */
export function commitStatusObservers(
  { choice }: CommandTarget,
  { sources }: OperatorConfig,
  terminal: Terminal & { readonly meter: Meter | undefined },
): readonly PassObserver[] {
  const source = sources?.find(({ name }) => name === choice?.source?.name);
  if (choice === null || !source?.commitStatus) return [];
  const { provider, tokenFile, apiUrl } = source.commitStatus;
  const place = statusPlace(provider, source.url, apiUrl ?? null);
  if (place === null) {
    throw new HoldfastError(
      "invalid",
      `the configuration is refused: source ${source.name} has no host for commitStatus`,
      {
        hint: "leave commitStatus out, or give the address of the repository on its host",
      },
    );
  }
  const options = { ...place, target: choice.name, tokenFile: resolve(terminal.cwd, tokenFile) };
  return [createStatusWriter(options, deliveryTo(terminal, "commitStatuses"), terminal.stopping)];
}
