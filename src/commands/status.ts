import type { TargetStatus } from "../core/report/target-status.ts";
import { askDaemon, type DaemonReply } from "../daemon/control-socket.ts";
import { neverRunStatus } from "../daemon/status-after-pass.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { statusReport } from "../render/status.ts";
import type { InvocationOf } from "./command.ts";
import type { status } from "./declarations/status.ts";
import { sayWait } from "./output/log-stream.ts";
import { type CommandTarget, RECORDED_TARGETS } from "./targets/create-target.ts";
import { type FoundTargets, findTargets } from "./targets/find-targets.ts";
import { stagesIn } from "./targets/stage-targets.ts";
import { storedGates } from "./targets/stored-gates.ts";
import { isWatched, storedStatus } from "./targets/stored-status.ts";
import { columnsOn, type Terminal, writeResult } from "./terminal.ts";

/** Shows the status of the running daemon, or the status that the last daemon stored. */
export async function run(invocation: InvocationOf<typeof status>): Promise<number> {
  const { flags, terminal } = invocation;
  await using opened = await findTargets(invocation, RECORDED_TARGETS);
  const running = await (flags.wait ? syncedDaemon(opened, terminal) : daemonNow(opened, terminal));
  const known = running?.targets ?? [];
  const statusOf = async (one: CommandTarget): Promise<TargetStatus> => {
    const found = one.choice?.isRetired ? undefined : known.find(({ target }) => target === one.name);
    return found ?? storedStatus(one, terminal.clock.now());
  };
  const targets = await Promise.all(
    opened.targets.map(async (target) => ({
      ...(await statusOf(target)),
      ...(await storedGates(target)),
    })),
  );
  const stages = await stagesIn(opened, targets, terminal.clock.now());
  const daemon = running === null ? null : { pid: running.pid };
  const shown = { format: stdoutFormat(flags.output), width: columnsOn(terminal.stdout) };
  await writeResult(terminal, statusReport({ targets, stages, daemon, diagnostics: terminal.warnings.all() }, shown));
  return 0;
}

async function daemonNow({ stateFolder }: FoundTargets, { stopping: signal }: Terminal): Promise<DaemonReply | null> {
  return askDaemon(stateFolder, { method: "GET", path: "/status" }, { signal });
}

const POLL_MS = 500;

/**
 * Waits until every watched target is in sync. The daemon may start later, or start anew, so its socket is asked again
 * and again. Where the state is in a database, it says what daemons on other machines have done.
 */
async function syncedDaemon(opened: FoundTargets, terminal: Terminal): Promise<DaemonReply | null> {
  const { clock, stopping } = terminal;
  const watched = opened.targets.filter(isWatched);
  let said = "";
  for (;;) {
    const reply = await daemonNow(opened, terminal);
    const statuses = reply?.targets ?? (opened.database === null ? null : await statusesIn(watched));
    const left = statuses === null ? [] : watched.flatMap(({ name }) => whyNotSynced(statuses, name));
    if (statuses !== null && left.length === 0) return reply;
    const text = statuses === null ? `no daemon runs with the state folder ${opened.stateFolder}` : left.join("; ");
    if (text !== said) sayWait(terminal, text);
    said = text;
    await clock.sleep(POLL_MS, { signal: stopping }).catch(() => stopping.throwIfAborted());
  }
}

async function statusesIn(watched: readonly CommandTarget[]): Promise<readonly TargetStatus[]> {
  return Promise.all(
    watched.map(async ({ name, state }) => (await (await state.target()).status()) ?? neverRunStatus(name, null)),
  );
}

function whyNotSynced(statuses: readonly TargetStatus[], name: string): readonly string[] {
  const found = statuses.find(({ target }) => target === name);
  if (found === undefined) return [`${name} is not watched`];
  if (found.sync === "Synced") return [];
  const why = found.message ?? found.reason;
  return [`${name} is ${found.sync}${why === null ? "" : `: ${why}`}`];
}
