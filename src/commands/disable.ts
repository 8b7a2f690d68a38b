import { causeText } from "../client/reachability.ts";
import { refusalError } from "../client/read-error.ts";
import { HoldfastError } from "../core/errors.ts";
import type { ServerSession } from "../engine/session.ts";
import { printable } from "../render/escape.ts";
import type { InvocationOf } from "./command.ts";
import type { disable } from "./declarations/disable.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { confirm, requireConfirmable, say, type Terminal, writeResult } from "./terminal.ts";

/** Disables accounts and users for good. */
export async function run(invocation: InvocationOf<typeof disable>): Promise<number> {
  const { args, flags, terminal } = invocation;
  requireConfirmable("disable", { isConfirmed: flags.yes }, terminal);
  await using target = await findTarget({ ...invocation, args: [] }, { reading: true });
  await requireTargetConfirmed(target, flags, terminal);
  if (!flags.yes && !(await isConfirmed(args, terminal))) {
    say(terminal, "nothing was disabled");
    return 0;
  }
  const { session } = await target.server.connect(target.rules(target.source.config.repository));
  for (const subject of args) {
    await disableOne(session, subject, terminal);
    await writeResult(terminal, `${printable(subject)} is disabled: its tokens are void, and it gets no new ones\n`);
  }
  await session.capabilities.save();
  return 0;
}

async function isConfirmed(subjects: readonly string[], terminal: Terminal): Promise<boolean> {
  for (const subject of subjects) say(terminal, printable(subject));
  return confirm("Disable for good? There is no way back.", terminal);
}

async function disableOne({ writer }: ServerSession, subject: string, { stopping }: Terminal): Promise<void> {
  const sent = await writer.send("disableSubject", { body: { subject } }, { signal: stopping });
  if (sent.state === "applied") return;
  if (sent.state !== "refused") {
    const message = `it is unknown whether ${printable(subject)} was disabled: ${causeText(sent.cause)}`;
    throw new HoldfastError("error", message, { hint: "run it again: a repetition does no harm", cause: sent.cause });
  }
  if (sent.reason !== "route-missing") throw refusalError("disableSubject", sent);
  throw new HoldfastError("error", "this control plane cannot disable accounts and users", {
    hint: "it lacks the extension E16 (POST /api/svc/v1/subjects/disable)",
  });
}
