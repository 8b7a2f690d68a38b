import { FORMAT_VERSION } from "../core/format-version.ts";
import { receiptsOf } from "../core/gates/gate-status.ts";
import { kindIn } from "../core/kind.ts";
import type { PassEvent, WhyEvent } from "../core/report/events.ts";
import type { WhyReport } from "../core/report/report.ts";
import { reconcile } from "../engine/reconcile.ts";
import { kindsByType } from "../kinds/index.ts";
import { jsonText } from "../render/escape.ts";
import { whyText } from "../render/why.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { InvocationOf } from "./command.ts";
import type { why } from "./declarations/why.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import type { CommandTarget } from "./targets/create-target.ts";
import { findTarget } from "./targets/find-targets.ts";
import { lineAuthor } from "./targets/line-author.ts";
import { type Terminal, writeResult } from "./terminal.ts";

/** Shows where a value comes from. */
export async function run(invocation: InvocationOf<typeof why>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const whole = { ...invocation, args: [], flags: { ...flags, partial: true } };
  const view = terminalViewOf(invocation);
  await using target = await findTarget(whole, { reading: true });
  const mode = { is: "why", asked: args[0] ?? "" } as const;
  const notice = passNotices(whole, view);
  // Errors of other manifests do not concern the asked one.
  const emit = (event: PassEvent): void => (event.what === "read" ? undefined : notice(event));
  const end = await reconcile(target, mode, { ...terminal, emit });
  if (end.what !== "explained") return endWithInvalidSource(end, invocation);
  const report = await reportOf(end, target, terminal);
  await writeResult(
    terminal,
    view.output === "json" ? jsonText(report) : wrappedLines(whyText(report, view), view.width),
  );
  return 0;
}

async function reportOf(end: WhyEvent, target: CommandTarget, terminal: Terminal): Promise<WhyReport> {
  const { identity, pointer, changes, changedSince, server, wanted, written, live, at, diagnostics } = end;
  // In a file that differs from its commit, the line number may be another one.
  const place = { ...wanted, upTo: pointer === "" ? "document" : "line" } as const;
  const {
    commit = null,
    author = null,
    at: wantedAt = null,
    isOldest = false,
  } = (await lineAuthor(place, end.revision, target, terminal)) ?? {};
  return {
    format_version: FORMAT_VERSION,
    server,
    identity,
    pointer,
    ...(changes === undefined ? {} : { changes }),
    ...(changedSince === undefined ? {} : { changedSince }),
    ...(await gatesIn(end, target)),
    wanted: { ...wanted, commit, author, at: wantedAt, isOldest },
    written: written && { ...written, ...(await passAt(target, at)) },
    live,
    diagnostics,
  };
}

// Of one field there is no answer: gates judge a whole content.
async function gatesIn({ identity, pointer, content }: WhyEvent, { state, choice }: CommandTarget) {
  const kind = kindIn(kindsByType, identity);
  if (pointer !== "" || choice === null || choice.gates.length === 0 || kind === undefined) return {};
  const receipts = await (await state.target()).gateReceipts(identity);
  const gates = receiptsOf({ identity, kind, content }, choice.gates, receipts);
  return gates.length === 0 ? {} : { gates };
}

// The commit of the pass during which the value was written, as the history has it.
async function passAt({ state }: CommandTarget, at: number | null) {
  const pass = at === null ? null : await (await state.target()).passAt(at);
  return { commit: pass?.commit ?? null, isUncommitted: pass !== null && pass.commit === null };
}
