import { HoldfastError } from "../core/errors.ts";
import type { PassResult } from "../core/report/events.ts";
import type { ResolveReport } from "../core/report/report.ts";
import type { ResolveMode } from "../engine/passes/resolve-pass.ts";
import { reconcile } from "../engine/reconcile.ts";
import { jsonText } from "../render/escape.ts";
import { resolveText } from "../render/resolve.ts";
import type { InvocationOf } from "./command.ts";
import type { resolve } from "./declarations/resolve.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget } from "./targets/find-targets.ts";
import { confirm, isInteractive, type Terminal, writeResult } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Shows the writes whose outcome is unknown, and closes them with the outcome of `--as`. */
export async function run(invocation: InvocationOf<typeof resolve>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const as = flags.as ?? null;
  if (as !== null && args.length === 0) {
    throw new HoldfastError("invalid", "--as needs identities", { hint: "holdfast resolve lists the open writes" });
  }
  const confirmClose = async (report: ResolveReport): Promise<boolean> => {
    if (flags.yes || !isInteractive(terminal)) return true;
    terminal.stderr.write(resolveText(report));
    return confirm(`Close as ${as}?`, terminal);
  };
  const whole = { ...invocation, args: [], flags: { ...flags, partial: true } };
  const view = terminalViewOf(invocation);
  await using target = await findTarget(whole, { reading: as === null });
  const mode = { is: "resolve", identities: [...new Set(args)], as, confirm: confirmClose } as const;
  const end =
    (await closedByDaemon(mode, target, terminal)) ??
    (await reconcile(target, mode, { ...terminal, emit: passNotices(whole, view) }));
  if (end.what === "declined") {
    terminal.stderr.write("nothing was closed\n");
    return 0;
  }
  if (end.what !== "resolved") return endWithInvalidSource(end, invocation);
  await writeResult(terminal, view.output === "json" ? jsonText(end.report) : resolveText(end.report));
  return 0;
}

// A daemon cannot ask for confirmation, so this shows the open writes and asks before it sends the command.
async function closedByDaemon(
  { identities, as, confirm: confirmClose }: ResolveMode,
  target: Parameters<typeof sendToDaemon>[1],
  terminal: Terminal,
): Promise<PassResult | null> {
  const shown = await sendToDaemon<PassResult>({ is: "resolve", identities, as: null }, target, terminal);
  if (shown?.what !== "resolved" || as === null) return shown;
  if (!(await confirmClose(shown.report))) return { what: "declined" };
  return sendToDaemon<PassResult>({ is: "resolve", identities, as }, target, terminal);
}
