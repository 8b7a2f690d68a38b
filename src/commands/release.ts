import { HoldfastError } from "../core/errors.ts";
import { isCommitPrefix, isStage } from "../core/holds.ts";
import { hasFailed, NO_PROGRESS } from "../core/stages/target-progress.ts";
import { endHold } from "../daemon/carry-out.ts";
import { holdable } from "../daemon/requested-hold.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { InvocationOf } from "./command.ts";
import type { release } from "./declarations/release.ts";
import { RECORDED_TARGETS } from "./targets/create-target.ts";
import { findTarget } from "./targets/find-targets.ts";
import { onStage, type StageTarget } from "./targets/stage-targets.ts";
import { columnsOn, type Terminal, writeResult } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Ends a hold, or allows a commit that no longer declares many of the recorded resources. */
export async function run(invocation: InvocationOf<typeof release>): Promise<number> {
  const { args, terminal } = invocation;
  const what = holdable(args[0] ?? "");
  if (isStage(what)) return releaseStage(what, invocation);
  await using target = await findTarget({ ...invocation, args: [] }, RECORDED_TARGETS);
  const wasHeld = await endHoldOf(target, what, terminal);
  if (!wasHeld && !isCommitPrefix(what)) throw notHeld(what);
  return sayReleased(what, terminal);
}

async function releaseStage(what: string, invocation: InvocationOf<typeof release>): Promise<number> {
  const { terminal } = invocation;
  const found: boolean[] = [];
  const keeping: string[] = [];
  await onStage(what, invocation, async (target, { isRetired }) => {
    found.push(isRetired ? await endFailureOf(target) : await endHoldOf(target, what, terminal));
    if (!isRetired && (await keepsPlace(target))) keeping.push(target.name);
  });
  const kept = keeping.map((name) => `${name} keeps its place of maxUpdate, since a process writes it\n`).join("");
  if (!found.includes(true)) throw notHeld(what, kept.trimEnd().replaceAll("\n", "; "));
  return sayReleased(what, terminal, kept);
}

async function keepsPlace({ state }: StageTarget): Promise<boolean> {
  return (await (await state.target()).progress()).begun !== null && (await state.isLocked());
}

// A retired target that had failed halts the stages after it, until a person has looked at it.
async function endFailureOf({ state }: StageTarget): Promise<boolean> {
  const store = await state.target();
  const last = (await store.progress()).commits.at(-1);
  if (last === undefined || !hasFailed(last)) return false;
  await store.advance(() => NO_PROGRESS);
  return true;
}

// The daemon watches no target with `sync: off`.
async function endHoldOf(target: StageTarget, what: string, terminal: Terminal): Promise<boolean> {
  const isWatched = target.choice?.sync !== "off";
  const byDaemon = isWatched ? await sendToDaemon<boolean>({ is: "release", what }, target, terminal) : null;
  return byDaemon ?? endHold(what, target.state, terminal.clock.now());
}

function notHeld(what: string, kept = ""): HoldfastError {
  const message = kept === "" ? `${what} is not held` : `${what} is not held: ${kept}`;
  return new HoldfastError("invalid", message, { hint: "holdfast status lists the holds" });
}

async function sayReleased(what: string, terminal: Terminal, kept = ""): Promise<number> {
  await writeResult(terminal, wrappedLines(`released: ${what}\n${kept}`, columnsOn(terminal.stdout)));
  return 0;
}
