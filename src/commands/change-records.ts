import type { PassEnd } from "../core/report/events.ts";
import type { RecordsReport } from "../core/report/report.ts";
import { type Mode, reconcile } from "../engine/reconcile.ts";
import { jsonText } from "../render/json.ts";
import { recordsLine, recordsText } from "../render/records.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { Invocation } from "./command.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { writeResult } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Creates or drops records and shows them; returns the report, or the exit code if the source is refused. */
export async function changeRecords(
  invocation: Invocation,
  mode: Extract<Mode, { readonly is: "adopt" | "forget" }>,
): Promise<RecordsReport | number> {
  const { terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await findTarget(invocation, { reading: false });
  const command = mode.is === "adopt" ? { ...mode, identities: mode.identities && [...mode.identities] } : mode;
  const byDaemon = await sendToDaemon<PassEnd>(command, target, terminal);
  const end = byDaemon ?? (await reconcile(target, mode, { ...terminal, emit: passNotices(invocation, view) }));
  if (end.what !== "records") return endWithInvalidSource(end, invocation);
  const isAll = mode.is === "adopt" && mode.identities === null;
  const text = isAll ? recordsLine : recordsText;
  const shown = view.output === "json" ? jsonText(end.report) : wrappedLines(text(end.report), view.width);
  await writeResult(terminal, shown);
  return end.report;
}
