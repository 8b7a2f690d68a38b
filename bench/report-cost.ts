import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textDiff } from "../src/core/diff/text-diff.ts";
import { groupOf } from "../src/core/kind.ts";
import type { Plan } from "../src/core/plan/plan.ts";
import { kindsByType } from "../src/kinds/index.ts";
import { plain } from "../src/render/paint.ts";
import { planText } from "../src/render/plan.ts";
import { foldSteps } from "../src/render/step.ts";
import { writeCorpus } from "./corpus/corpus.ts";
import { runProgram } from "./run-program.ts";
import { startControlPlane } from "./start-control-plane.ts";

// What folding and diffs add to a plan with many changes, as a share of the processor time of that plan.
const COUNT = 10_000;
const CHANGED = 1000;
const MOST_SHARE = 0.1;

const work = mkdtempSync(join(tmpdir(), "holdfast-bench-report-"));
const plane = await startControlPlane();
try {
  const [source, changed, state] = [join(work, "source"), join(work, "changed"), join(work, "state")];
  writeCorpus(source, COUNT);
  writeCorpus(changed, COUNT, edited());
  const common = ["-o", "json", "--state", state];
  const apply = ["apply", "--yes", "--no-wait", "--allow-privilege", "--sink", "file", "--source", source, ...common];
  await runProgram({ script: "bin/holdfast.js", args: apply, env: plane.env, check: () => null });
  const args = ["plan", "--source", changed, ...common];
  const planned = await runProgram({ script: "bin/holdfast.js", args, env: plane.env, check: hasUpdates });
  const plan = planned.result as Plan;
  const changes = plan.steps.flatMap((step) => step.changes);
  const diffs = busyMs(() => changes.map(({ before, after }) => textDiff(before, after)));
  const folding = busyMs(() => foldSteps(plan.steps));
  const view = { paint: plain, width: 80, rows: null, now: null, ignored: 0, next: null, showUnchanged: false };
  const layout = { ...view, groupOf: resourceGroup, detailOf: () => null, blocked: [] };
  const [folded, single] = [true, false].map((folds) => busyMs(() => planText(plan, { ...layout, folds })));
  const share = (diffs + folding) / planned.busyMilliseconds;
  process.stdout.write(
    [
      `plan of ${COUNT} with ${plan.summary.update} updates: ${Math.round(planned.busyMilliseconds)} ms of processor time`,
      `  diffs of ${changes.length} changes: ${Math.round(diffs)} ms, folding: ${Math.round(folding)} ms`,
      `  the text, folded: ${Math.round(folded ?? 0)} ms, each on its own: ${Math.round(single ?? 0)} ms`,
      `  diffs and folding are ${(100 * share).toFixed(1)} % of the plan (at most ${100 * MOST_SHARE} %)`,
      "",
    ].join("\n"),
  );
  process.exitCode = share <= MOST_SHARE ? 0 : 1;
} finally {
  await plane.stop();
  rmSync(work, { recursive: true, force: true });
}

// Half of them alike, as a new release of every service is; the rest with a changed line in a text of several.
function edited(): (text: string) => string {
  const left = new Map([
    [true, CHANGED / 2],
    [false, CHANGED / 2],
  ]);
  return (text) => {
    const isPrompt = text.includes("type: chat_prompt");
    const next = isPrompt
      ? text.replace("Rule 5: answer in at most", "Rule 5: always answer in at most")
      : text.replace("language: python", "language: go");
    const rest = left.get(isPrompt) ?? 0;
    if (next === text || rest === 0) return text;
    left.set(isPrompt, rest - 1);
    return next;
  };
}

function resourceGroup(step: { readonly identity: string }): string | null {
  return groupOf(step, kindsByType);
}

function hasUpdates(result: unknown): string | null {
  const { summary } = result as Plan;
  return summary.update >= CHANGED ? null : `${summary.update} updates instead of ${CHANGED}`;
}

function busyMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
