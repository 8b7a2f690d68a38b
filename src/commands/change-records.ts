import type { PassResult } from "../core/report/events.ts";
import type { RecordsReport } from "../core/report/report.ts";
import { type Mode, reconcile } from "../engine/reconcile.ts";
import { count, joinCounts } from "../render/count-text.ts";
import { jsonText, printable } from "../render/escape.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { Invocation } from "./command.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { writeResult } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

const doneText = {
  adopt: { done: "adopted", stays: "nothing was written to the control plane" },
  forget: { done: "forgotten", stays: "the live resources stay and are no longer managed" },
} as const;

const whyText: { readonly [why in RecordsReport["left"][number]["why"]]: string } = {
  recorded: "is recorded already",
  absent: "is not live",
  unreadable: "cannot be read here",
};

const whyCounted: typeof whyText = {
  recorded: "recorded already",
  absent: "not live",
  unreadable: "not readable here",
};

/** Creates or drops records and shows them; returns the report, or the exit code if the source is refused. */
export async function changeRecords(
  invocation: Invocation,
  mode: Extract<Mode, { readonly is: "adopt" | "forget" }>,
): Promise<RecordsReport | number> {
  const { terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await findTarget(invocation, { reading: false, allowsRetired: mode.is === "forget" });
  const command = mode.is === "adopt" ? { ...mode, identities: mode.identities && [...mode.identities] } : mode;
  const byDaemon = await sendToDaemon<PassResult>(command, target, terminal);
  const end = byDaemon ?? (await reconcile(target, mode, { ...terminal, emit: passNotices(invocation, view) }));
  if (end.what !== "records") return endWithInvalidSource(end, invocation);
  const isAll = mode.is === "adopt" && mode.identities === null;
  const text = isAll ? recordsLine : recordsText;
  const shown = view.output === "json" ? jsonText(end.report) : wrappedLines(text(end.report), view.width);
  await writeResult(terminal, shown);
  return end.report;
}

/** The changed records in one line, with the number of those that are left and why. */
function recordsLine({ action, changed, left }: RecordsReport): string {
  const { done, stays } = doneText[action];
  const reasons = Map.groupBy(left, ({ why }) => why);
  const counts = joinCounts([...reasons].map(([why, alike]) => [alike.length, whyCounted[why]]));
  const rest = counts === "" ? "" : `; left as they are: ${counts}`;
  return `${count(changed.length, "resource")} ${done}${rest}; ${stays}\n`;
}

/** The changed records, one line each, and what is not changed. */
function recordsText({ action, changed, left }: RecordsReport): string {
  const { done, stays } = doneText[action];
  const lines = [
    ...changed.map(({ identity }) => `  ${done.padEnd(9)} ${printable(identity)}`),
    ...left.map(({ identity, why }) => `  left      ${printable(identity)}: ${whyText[why]}`),
    `${count(changed.length, "resource")} ${done}; ${stays}`,
  ];
  return lines.map((line) => `${line}\n`).join("");
}
