import type { Clock } from "../clock/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import { type Hold, holdText, isCommitPrefix, isStage } from "../core/holds.ts";
import type { Identity } from "../core/manifest.ts";
import { addHold } from "../daemon/carry-out.ts";
import { requestedHold } from "../daemon/requested-hold.ts";
import { heldContents } from "../engine/load/held-contents.ts";
import { type DesiredRead, load } from "../engine/load.ts";
import { printable } from "../render/escape.ts";
import { wrappedLines } from "../render/wrap.ts";
import { closestName } from "../schema/closest-name.ts";
import { SourceError } from "../source/source-error.ts";
import { type InvocationOf, missingFlags } from "./command.ts";
import type { hold } from "./declarations/hold.ts";
import { type CommandTarget, RECORDED_TARGETS } from "./targets/create-target.ts";
import { findTarget } from "./targets/find-targets.ts";
import { onStage, type StageTarget } from "./targets/stage-targets.ts";
import { columnsOn, type Terminal, writeResult } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Prevents the daemon from writing a resource, or from applying a commit, until a given time. */
export async function run(invocation: InvocationOf<typeof hold>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const [named] = args;
  const now = terminal.clock.now();
  if (named === undefined || (flags.reason === undefined && flags.until === undefined)) {
    throw missingFlags(
      { "<what>": named, "--reason TEXT": flags.reason, "--until WHEN": flags.until },
      "name a resource or a commit, and say why, and until when: 4h, 2d, a time such as 2027-03-31T12:00:00Z, or commit",
    );
  }
  const wanted = requestedHold({ what: named, reason: flags.reason, until: flags.until }, now);
  const { what } = wanted;
  if (isStage(what)) {
    await onStage(what, invocation, async (target, { isRetired }) => {
      if (!isRetired) await addHoldTo(target, wanted, terminal);
    });
    return sayHeld(wanted, terminal);
  }
  await using target = await findTarget({ ...invocation, args: [] }, RECORDED_TARGETS);
  if (isCommitPrefix(what) && target.source.commits === null) {
    throw new HoldfastError(
      "invalid",
      `${what} cannot be held: this source is a folder, whose commits are not chosen`,
      {
        hint: "hold resources, or follow a remote: docs/pod.md",
      },
    );
  }
  const entry = await checkHold(wanted, target, terminal);
  await addHoldTo(target, entry, terminal);
  return sayHeld(entry, terminal);
}

// The daemon watches no target with `sync: off`.
async function addHoldTo(target: StageTarget, hold: Hold, terminal: Terminal): Promise<void> {
  const sent = target.choice?.sync !== "off" && (await sendToDaemon({ is: "hold", hold }, target, terminal));
  if (!sent) await addHold(hold, target.state, terminal.clock.now());
}

async function sayHeld(hold: Hold, terminal: Terminal): Promise<number> {
  await writeResult(terminal, wrappedLines(`held: ${printable(holdText(hold))}\n`, columnsOn(terminal.stdout)));
  return 0;
}

/** The hold on a resource with its content; refuses one on a resource that is neither declared nor recorded. */
async function checkHold(hold: Hold, target: CommandTarget, { clock, stopping: signal }: Terminal): Promise<Hold> {
  if (isCommitPrefix(hold.what)) return hold;
  const { readKey, open, recorded } = target.state;
  const { key } = await open({ keyText: readKey() });
  const read = await readDeclared(target, { clock, stopping: signal });
  requireKnown(hold.what, read, await recorded());
  const content = read && (await heldContents(read, [hold.what], { key, clock, signal })).contents.get(hold.what);
  return read === null || content === undefined ? hold : { ...hold, content };
}

// A hold must be possible while the source cannot be read, for example during an incident.
async function readDeclared(
  target: CommandTarget,
  context: { readonly clock: Clock; readonly stopping: AbortSignal },
): Promise<DesiredRead | null> {
  try {
    return await load(target, context);
  } catch (error) {
    if (error instanceof SourceError) return null;
    throw error;
  }
}

function requireKnown(what: Identity, read: DesiredRead | null, recorded: readonly Identity[]): void {
  if (read === null || recorded.includes(what)) return;
  const { declared, invalid } = read.desired;
  if (declared.has(what) || invalid.has(what)) return;
  const near = closestName(what, [...declared, ...invalid, ...recorded]);
  throw new HoldfastError("invalid", `${what} is neither declared nor recorded, so there is nothing to hold`, {
    hint: near === undefined ? "holdfast plan --show unchanged lists the resources" : `did you mean ${near}?`,
  });
}
