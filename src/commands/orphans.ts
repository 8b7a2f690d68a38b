import type { OrphansReport } from "../contract/generated/output.ts";
import { compareText } from "../contract/json.ts";
import { exitCodes } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { parentOf } from "../core/kind.ts";
import type { Identity } from "../core/manifest.ts";
import type { DriftEvent } from "../core/report/events.ts";
import { reconcile } from "../engine/reconcile.ts";
import { kindsByType } from "../kinds/index.ts";
import { jsonText } from "../render/escape.ts";
import { orphansChecklist, orphansMarkdown } from "../render/orphans-checklist.ts";
import { contentTop } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { orphans } from "./declarations/orphans.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices, showUnreadable } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { openOutputs } from "./output/write-outputs.ts";
import { findTarget } from "./targets/find-targets.ts";

/** Lists what the source no longer declares, with what to do about it; writes nothing. */
export async function run(invocation: InvocationOf<typeof orphans>): Promise<number> {
  const { terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await findTarget(invocation, { reading: true, allowsRetired: true });
  const emit = passNotices(invocation, view);
  const write = openOutputs(invocation, contentTop(target.source.root));
  const end = await reconcile(target, { is: "drift" }, { ...terminal, emit });
  if (end.what !== "drifted") return endWithInvalidSource(end, invocation);
  showUnreadable(end.report.diagnostics, invocation, view);
  const report = reportOf(end, target.choice?.name ?? null);
  await write({
    render: (format) => {
      if (format === "json") return jsonText(report);
      return format === "markdown" ? orphansMarkdown(report) : orphansChecklist(report, view);
    },
    job: () => ({ remarks: [], summary: "", outputs: [] }),
  });
  return report.complete ? 0 : exitCodes.error;
}

function reportOf({ report }: DriftEvent, target: string | null): OrphansReport {
  const found = report.drift.flatMap(({ identity, kind, orphan }) => {
    return orphan === undefined ? [] : [{ identity, kind, orphan }];
  });
  // What is within another resource is removed before it.
  const sorted = found.toSorted(
    (a, b) => depthOf(b.identity) - depthOf(a.identity) || compareText(a.identity, b.identity),
  );
  const recorded = sorted.filter(({ orphan }) => orphan.recorded).map(({ identity }) => identity);
  return {
    format_version: FORMAT_VERSION,
    server: report.server,
    target,
    complete: report.complete,
    orphans: sorted,
    forget: recorded.length === 0 ? null : forgetCommand(recorded, target),
    ...(report.history === undefined ? {} : { history: report.history }),
    diagnostics: report.diagnostics,
  };
}

function depthOf(identity: Identity): number {
  const parent = parentOf(identity, kindsByType);
  return parent === null ? 0 : 1 + depthOf(parent);
}

function forgetCommand(identities: readonly Identity[], target: string | null): string {
  const words = [...identities, ...(target === null ? [] : ["--target", target])];
  return [
    "holdfast forget",
    ...words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)),
  ].join(" ");
}
