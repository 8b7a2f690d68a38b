import type { ApplyEvent } from "../../core/report/events.ts";
import { isEverything } from "../../core/selection/select.ts";
import { isWorthRecording, keepStatus, keptStatus, openHistory } from "../../daemon/history.ts";
import { createPassWatch } from "../../daemon/pass-watch.ts";
import { newStatus, statusAfter } from "../../daemon/status-after-pass.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** Records an apply in the history and the status of its target, as a daemon records its passes. */
export function recordApply(
  end: ApplyEvent,
  { choice, remote, state, rules }: CommandTarget,
  { startedAt, now }: Pick<Terminal, "now"> & { readonly startedAt: number },
): void {
  const { folder } = state;
  const watch = createPassWatch();
  watch.observer.emit(end);
  const before = { ...newStatus(choice?.name ?? "default", remote?.name ?? null), ...keptStatus(folder) };
  const times = { startedAt, endedAt: now(), nextAt: null, wanted: null };
  const status = statusAfter(before, watch.end(times));
  const { lastPass } = status;
  // What was not selected was not looked at, so the status of the whole stays as it is.
  const isWhole = isEverything(rules({}).selection);
  const record = isWhole ? lastPass : lastPass && { ...lastPass, reason: "Selected", message: "a part was selected" };
  if (record !== null && isWorthRecording(record, before.lastPass)) openHistory(folder, now).add([record]);
  if (isWhole) keepStatus(folder, status);
}
