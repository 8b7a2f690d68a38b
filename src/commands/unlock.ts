import type { UnlockReport } from "../core/report/report.ts";
import type { LeaseHolder } from "../engine/lease/busy-lease.ts";
import { reconcile } from "../engine/reconcile.ts";
import { jsonText, printable } from "../render/escape.ts";
import type { InvocationOf } from "./command.ts";
import type { unlock } from "./declarations/unlock.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { confirm, isInteractive, say, writeResult } from "./terminal.ts";

/** Breaks the lease of a writer that has died. */
export async function run(invocation: InvocationOf<typeof unlock>): Promise<number> {
  const { flags, terminal } = invocation;
  const confirmBreak = async (lease: LeaseHolder): Promise<boolean> => {
    if (flags.yes || !isInteractive(terminal)) return true;
    say(terminal, `the lease on ${lease.scope} is ${holderText(lease)}`);
    return confirm("Break this lease?", terminal);
  };
  const whole = { ...invocation, flags: { ...flags, partial: true } };
  const view = terminalViewOf(invocation);
  await using target = await findTarget(whole, { reading: false });
  const mode = { is: "unlock", confirm: confirmBreak } as const;
  const end = await reconcile(target, mode, { ...terminal, emit: passNotices(whole, view) });
  if (end.what === "declined") {
    terminal.stderr.write("no lease was broken\n");
    return 0;
  }
  if (end.what !== "unlocked") return endWithInvalidSource(end, invocation);
  await writeResult(terminal, view.output === "json" ? jsonText(end.report) : unlockText(end.report));
  return 0;
}

/** The previous holders of the state and leases, and what is free now. */
export function unlockText({ leftBy, scope, broken }: UnlockReport): string {
  const left = leftBy === null ? "not held" : `left by ${printable(leftBy)}, which has ended`;
  return [
    `state: ${left}; free`,
    ...broken.map((lease) => `lease on ${printable(lease.scope)}: broken; it was ${holderText(lease)}`),
    scope === null ? "leases: this control plane has none" : `lease on ${printable(scope)}: free`,
    "",
  ].join("\n");
}

/** The holder of a lease and its expiry. */
export function holderText({ holder, until }: UnlockReport["broken"][number]): string {
  return `held by ${printable(holder)}, which no longer renews it and would have held it until ${printable(until)}`;
}
