import type { PassEnd } from "../core/events.ts";
import type { RecordsReport } from "../core/report.ts";
import { type Mode, reconcile } from "../engine/reconcile.ts";
import { jsonText } from "../render/json.ts";
import { recordsText } from "../render/records.ts";
import type { Invocation } from "./command.ts";
import { refuseSource } from "./failure-report.ts";
import { outputOptionsOf } from "./output-options.ts";
import { reportPass } from "./report-pass.ts";
import { openTarget } from "./target.ts";
import { writeResult } from "./terminal.ts";
import { throughDaemon } from "./through-daemon.ts";

/** Makes or drops records, and shows which; answers the report, or the exit code where the source is refused. */
export async function changeRecords(
  invocation: Invocation,
  mode: Extract<Mode, { readonly is: "adopt" | "forget" }>,
): Promise<RecordsReport | number> {
  const { terminal } = invocation;
  const view = outputOptionsOf(invocation);
  await using target = await openTarget(invocation, { reading: false });
  const command = mode.is === "adopt" ? { ...mode, identities: mode.identities && [...mode.identities] } : mode;
  const carriedOut = await throughDaemon<PassEnd>(command, target, terminal);
  const end = carriedOut ?? (await reconcile(target, mode, { ...terminal, tell: reportPass(invocation, view) }));
  if (end.what !== "records") return refuseSource(end, invocation);
  await writeResult(terminal, view.output === "json" ? jsonText(end.report) : recordsText(end.report));
  return end.report;
}
