import { decisionsAt, holdText } from "../core/holds.ts";
import type { TargetStatus } from "../core/report/target-status.ts";
import { askDaemon, type DaemonReply } from "../daemon/control-socket.ts";
import { freezeStatus, neverRunStatus, statusAtRest } from "../daemon/status-after-pass.ts";
import { stdoutFormat } from "../render/output-format.ts";
import { statusReport } from "../render/status.ts";
import type { InvocationOf } from "./command.ts";
import type { status } from "./declarations/status.ts";
import { sayWait } from "./output/log-stream.ts";
import { type CommandTarget, RECORDED_TARGETS } from "./targets/create-target.ts";
import { findTargets } from "./targets/find-targets.ts";
import { retiredTargetStatus } from "./targets/retired-target.ts";
import { stagesIn } from "./targets/stage-targets.ts";
import { storedGates } from "./targets/stored-gates.ts";
import { columnsOn, type Terminal, writeResult } from "./terminal.ts";

/** Shows the status of the running daemon, or the status that the last daemon stored. */
export async function run(invocation: InvocationOf<typeof status>): Promise<number> {
  const { flags, terminal } = invocation;
  await using opened = await findTargets(invocation, RECORDED_TARGETS);
  const isWatched = ({ choice }: CommandTarget) => choice?.sync !== "off" && !choice?.isRetired;
  const names = opened.targets.filter(isWatched).map(({ name }) => name);
  const running = await (flags.wait ? syncedDaemon : daemonNow)(opened.stateFolder, names, terminal);
  const known = running?.targets ?? [];
  const targets = await Promise.all(
    opened.targets.map(async (target) => ({
      ...(await statusOf(target, known, terminal.clock.now())),
      ...(await storedGates(target)),
    })),
  );
  const stages = await stagesIn(opened, targets, terminal.clock.now());
  const daemon = running === null ? null : { pid: running.pid };
  const shown = { format: stdoutFormat(flags.output), width: columnsOn(terminal.stdout) };
  await writeResult(terminal, statusReport({ targets, stages, daemon, diagnostics: terminal.warnings.all() }, shown));
  return 0;
}

async function daemonNow(
  stateFolder: string,
  _: readonly string[],
  { stopping: signal }: Terminal,
): Promise<DaemonReply | null> {
  return askDaemon(stateFolder, { method: "GET", path: "/status" }, { signal });
}

const POLL_MS = 500;

// The daemon may start later, or start anew, so its socket is asked again and again.
async function syncedDaemon(stateFolder: string, names: readonly string[], terminal: Terminal): Promise<DaemonReply> {
  const { clock, stopping } = terminal;
  let said = "";
  for (;;) {
    const reply = await daemonNow(stateFolder, names, terminal);
    const left = names.flatMap((name) => whyNotSynced(reply, name));
    if (reply !== null && left.length === 0) return reply;
    const text = reply === null ? `no daemon runs with the state folder ${stateFolder}` : left.join("; ");
    if (text !== said) sayWait(terminal, text);
    said = text;
    await clock.sleep(POLL_MS, { signal: stopping }).catch(() => stopping.throwIfAborted());
  }
}

function whyNotSynced(reply: DaemonReply | null, name: string): readonly string[] {
  const found = reply?.targets.find(({ target }) => target === name);
  if (found === undefined) return [`${name} is not watched`];
  if (found.sync === "Synced") return [];
  const why = found.message ?? found.reason;
  return [`${name} is ${found.sync}${why === null ? "" : `: ${why}`}`];
}

async function statusOf(one: CommandTarget, known: readonly TargetStatus[], now: number): Promise<TargetStatus> {
  const { name, remote, state, freezes } = one;
  const { fault = null, isRetired = false } = one.choice ?? {};
  if (isRetired) return retiredTargetStatus(one, now);
  const found = known.find(({ target }) => target === name);
  if (found !== undefined) return found;
  const store = await state.target();
  const held = decisionsAt(await store.decisions(), now).holds.map(holdText);
  const stored = (await store.status()) ?? neverRunStatus(name, remote?.name ?? null);
  if (fault !== null) return { ...stored, condition: "Stalled", reason: "Invalid", message: fault.message, held };
  return { ...((await state.isLocked()) ? stored : statusAtRest(stored)), held, ...freezeStatus(freezes, now) };
}
