import type { PassEvent } from "../core/report/events.ts";
import { reconcile } from "../engine/reconcile.ts";
import { jsonText } from "../render/escape.ts";
import { whyText } from "../render/why.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { InvocationOf } from "./command.ts";
import type { why } from "./declarations/why.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { whyReport } from "./targets/why-report.ts";
import { writeResult } from "./terminal.ts";

/** Shows where a value comes from. */
export async function run(invocation: InvocationOf<typeof why>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const whole = { ...invocation, args: [], flags: { ...flags, partial: true } };
  const view = terminalViewOf(invocation);
  await using target = await findTarget(whole, { reading: true });
  const mode = { is: "why", asked: args[0] ?? "" } as const;
  const notice = passNotices(whole, view);
  // Errors of other manifests do not concern the asked one.
  const emit = (event: PassEvent): void => (event.what === "read" ? undefined : notice(event));
  const end = await reconcile(target, mode, { ...terminal, emit });
  if (end.what !== "explained") return endWithInvalidSource(end, invocation);
  const report = await whyReport(end, target, terminal);
  await writeResult(
    terminal,
    view.output === "json" ? jsonText(report) : wrappedLines(whyText(report, view), view.width),
  );
  return 0;
}
