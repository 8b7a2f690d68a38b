import { resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import type { Notifier } from "../daemon/notify/notifier.ts";
import type { Delivery } from "../daemon/notify/post.ts";
import type { ReceiverOptions } from "../daemon/notify/receiver.ts";
import { printable } from "../render/escape.ts";
import type { OperatorConfig } from "../source/config.ts";
import type { Terminal } from "./terminal.ts";

type Entry = NonNullable<OperatorConfig["notifications"]>[number];

const TIMEOUT_MS = 10_000;
const BACKOFF_MS = [1_000, 5_000, 30_000, 120_000];

/** Opens what tells others about the passes of `watch`; null where the configuration names nobody. */
export async function openNotifier(
  { notifications }: Pick<OperatorConfig, "notifications">,
  terminal: Terminal,
): Promise<Notifier | null> {
  const receivers = (notifications ?? []).map((entry) => receiverOf(entry, terminal.cwd));
  if (receivers.length === 0) return null;
  // Loaded here, so that a watch without receivers does not load what makes messages.
  const { createNotifier } = await import("../daemon/notify/notifier.ts");
  return createNotifier(receivers, deliveryTo(terminal));
}

/** How `watch` delivers what it tells others: what cannot be delivered is a warning. */
export function deliveryTo({ now, stderr }: Pick<Terminal, "now" | "stderr">): Delivery {
  const onTrouble = (text: string): void => void stderr.write(`warning: ${printable(text)}\n`);
  return { now, onTrouble, timeoutMs: TIMEOUT_MS, backoffMs: BACKOFF_MS };
}

function receiverOf(entry: Entry, cwd: string): ReceiverOptions {
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

function addressOf({ name, url, urlFile }: Entry, cwd: string): ReceiverOptions["url"] {
  if (url && !urlFile) return { text: url };
  if (urlFile && !url) return { file: resolve(cwd, urlFile) };
  throw new HoldfastError("invalid", `the configuration is refused: notification ${name} needs url or urlFile`, {
    hint: "give exactly one of them",
  });
}
