import type { TargetStatus } from "../core/report/target-status.ts";
import { askDaemon } from "../daemon/control-socket.ts";
import { keptStatus } from "../daemon/history.ts";
import { holdText, readDecisions } from "../daemon/holds.ts";
import { newStatus } from "../daemon/status-after-pass.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { statusReport } from "../render/status.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { InvocationOf } from "./command.ts";
import type { status } from "./declarations/status.ts";
import type { CommandTarget } from "./targets/create-target.ts";
import { findTargets } from "./targets/find-targets.ts";
import { columnsOn, writeResult } from "./terminal.ts";

/** Shows the status of the running daemon, or the status that the last daemon stored. */
export async function run(invocation: InvocationOf<typeof status>): Promise<number> {
  const { flags, terminal } = invocation;
  await using opened = await findTargets(invocation, { reading: true, unattended: true });
  const stop = { signal: terminal.stopping };
  const running = await askDaemon(opened.stateFolder, { method: "GET", path: "/status" }, stop);
  const known = running?.targets ?? [];
  const targets = opened.targets.map((target) => statusOf(target, known, terminal.now()));
  const daemon = running === null ? null : { pid: running.pid };
  const format = stdoutFormat(flags.output);
  const report = statusReport({ targets, daemon, diagnostics: terminal.warnings.all() }, format);
  await writeResult(terminal, format === "json" ? report : wrappedLines(report, columnsOn(terminal.stdout)));
  return 0;
}

function statusOf({ choice, remote, state }: CommandTarget, known: readonly TargetStatus[], now: number): TargetStatus {
  const name = choice?.name ?? "default";
  const found = known.find(({ target }) => target === name);
  if (found !== undefined) return found;
  const held = readDecisions(state.folder, now).holds.map(holdText);
  return { ...(keptStatus(state.folder) ?? { ...newStatus(name, remote?.name ?? null), reason: "NeverRun" }), held };
}
