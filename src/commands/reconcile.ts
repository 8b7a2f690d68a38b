import { exitCodes, HoldfastError } from "../core/errors.ts";
import type { TargetStatus } from "../core/report/target-status.ts";
import { askDaemon } from "../daemon/control-socket.ts";
import { globMatcher } from "../model/glob.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { statusReport } from "../render/status.ts";
import { publicAddress } from "../store/postgres/address.ts";
import type { InvocationOf } from "./command.ts";
import type { reconcile } from "./declarations/reconcile.ts";
import { RECORDED_TARGETS } from "./targets/create-target.ts";
import { type FoundTargets, findTargets } from "./targets/find-targets.ts";
import { stagesIn } from "./targets/stage-targets.ts";
import { isWatched, storedStatus } from "./targets/stored-status.ts";
import { columnsOn, type Terminal, writeResult } from "./terminal.ts";

/** Triggers a pass of the running daemon and waits for its end. */
export async function run(invocation: InvocationOf<typeof reconcile>): Promise<number> {
  const { flags, terminal } = invocation;
  await using opened = await findTargets(invocation, RECORDED_TARGETS);
  const isNamed = globMatcher(flags.target ?? "*");
  const path = flags.target === undefined ? "/reconcile" : `/reconcile?target=${encodeURIComponent(flags.target)}`;
  const reply = await askDaemon(opened.stateFolder, { method: "POST", path }, { signal: terminal.stopping });
  const ended = reply?.targets ?? (await passedElsewhere(opened, terminal));
  const targets = ended.filter(({ target }) => flags.target === undefined || isNamed(target));
  const stages = await stagesIn(opened, targets, terminal.clock.now());
  const report = {
    targets,
    stages,
    daemon: reply === null ? null : { pid: reply.pid },
    diagnostics: terminal.warnings.all(),
  };
  const shown = { format: stdoutFormat(flags.output), width: columnsOn(terminal.stdout) };
  await writeResult(terminal, statusReport(report, shown));
  return targets.some(({ condition }) => condition === "Stalled") ? exitCodes.error : 0;
}

/** The statuses after a pass that the fleet of the state's database has made. */
async function passedElsewhere(
  opened: FoundTargets,
  { clock, stopping: signal }: Terminal,
): Promise<readonly TargetStatus[]> {
  const { database: address, stateFolder } = opened;
  if (address === null) {
    throw new HoldfastError("error", `no daemon runs with the state folder ${stateFolder}`, {
      hint: "start one with holdfast watch, or name its state folder with --state",
    });
  }
  const watched = opened.targets.filter(isWatched);
  // A state that cannot be used is refused before anything is asked for.
  for (const { state } of watched) await (await state.target()).status();
  const targets = watched.map(({ name }) => name);
  const { passedInFleet } = await import("../daemon/fleet-request.ts");
  if (!(await passedInFleet({ address, targets, clock }, { signal }))) {
    throw new HoldfastError("error", `no daemon runs here, and no fleet has its state in ${publicAddress(address)}`, {
      hint: `run this where one runs: its socket is in ${stateFolder}; a webhook reaches those on other machines`,
    });
  }
  return Promise.all(watched.map((target) => storedStatus(target, clock.now())));
}
