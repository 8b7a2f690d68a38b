import { FORMAT_VERSION } from "../../core/format-version.ts";
import { receiptsOf } from "../../core/gates/gate-status.ts";
import { kindIn } from "../../core/kind.ts";
import type { WhyEvent } from "../../core/report/events.ts";
import type { WhyReport } from "../../core/report/report.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { Terminal } from "../terminal.ts";
import type { CommandTarget } from "./create-target.ts";
import { lineAuthor } from "./line-author.ts";

/** Where a value comes from, with the author of its line and the commit that was written. */
export async function whyReport(
  end: WhyEvent,
  target: CommandTarget,
  terminal: Pick<Terminal, "cwd" | "stopping">,
): Promise<WhyReport> {
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
