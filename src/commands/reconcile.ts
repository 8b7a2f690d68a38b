import { exitCodes, HoldfastError } from "../core/errors.ts";
import { globMatcher } from "../core/selection/glob.ts";
import { askDaemon } from "../daemon/control-socket.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { statusReport } from "../render/status.ts";
import type { InvocationOf } from "./command.ts";
import type { reconcile } from "./declarations/reconcile.ts";
import { RECORDED_TARGETS } from "./targets/create-target.ts";
import { findTargets } from "./targets/find-targets.ts";
import { stagesIn } from "./targets/stage-targets.ts";
import { columnsOn, writeResult } from "./terminal.ts";

/** Triggers a pass of the running daemon and waits for its end. */
export async function run(invocation: InvocationOf<typeof reconcile>): Promise<number> {
  const { flags, terminal } = invocation;
  await using opened = await findTargets(invocation, RECORDED_TARGETS);
  const isNamed = globMatcher(flags.target ?? "*");
  const path = flags.target === undefined ? "/reconcile" : `/reconcile?target=${encodeURIComponent(flags.target)}`;
  const reply = await askDaemon(opened.stateFolder, { method: "POST", path }, { signal: terminal.stopping });
  if (reply === null) {
    throw new HoldfastError("error", `no daemon runs with the state folder ${opened.stateFolder}`, {
      hint:
        opened.database === null
          ? "start one with holdfast watch, or name its state folder with --state"
          : "run this where one runs: its socket is in that folder; a webhook reaches those on other machines",
    });
  }
  const targets = reply.targets.filter(({ target }) => flags.target === undefined || isNamed(target));
  const stages = await stagesIn(opened, targets, terminal.clock.now());
  const report = { targets, stages, daemon: { pid: reply.pid }, diagnostics: terminal.warnings.all() };
  const shown = { format: stdoutFormat(flags.output), width: columnsOn(terminal.stdout) };
  await writeResult(terminal, statusReport(report, shown));
  return targets.some(({ condition }) => condition === "Stalled") ? exitCodes.error : 0;
}
