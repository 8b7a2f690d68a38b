import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Measured } from "./alternate-runs.ts";
import {
  busy,
  clock,
  exitCodeOf,
  judgeClock,
  judgeGrowth,
  judgeMemory,
  judgeMilliseconds,
  judgePasses,
  judgePeak,
  judgeRest,
  judgeSending,
  judgeTime,
  judgeTimes,
  type Row,
  table,
  tellRate,
} from "./judge-results.ts";
import { GOALS, measureAll, type Results, type Size } from "./measure-all.ts";

const { values } = parseArgs({
  options: {
    n: { type: "string", default: "1000" },
    pairs: { type: "string", default: "5" },
    concurrency: { type: "string", default: "64" },
  },
});
const size: Size = { count: Number(values.n), pairs: Number(values.pairs), concurrency: Number(values.concurrency) };
try {
  report(await measureAll(size, (line) => console.error(line)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function report(results: Results): void {
  const rows = judge(results);
  // The goals are set for one size.
  if (size.count >= GOALS) process.exitCode = exitCodeOf(rows);
  const program = existsSync(join(import.meta.dirname, "../dist/holdfast.js")) ? "bundle" : "sources";
  console.log(`\n${table(rows)}\n\nMeasured: the ${program}.`);
  if (program === "sources") console.log("Start-up counts: npm run build makes the bundle that users run.");
  if (size.count !== GOALS) console.log("The goals are set for 10,000 manifests: npm run bench -- --n 10000");
  const [cpu] = cpus();
  const machine = { cpu: cpu?.model, cores: cpus().length, memory: totalmem(), node: process.version };
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ ...size, program, machine, rows, runs: withoutResults(results) }, null, 2);
  writeFileSync(join(folder, `${size.count}.json`), `${text}\n`);
}

function judge(results: Results): readonly Row[] {
  const {
    startUp,
    dashboard,
    validate,
    faulty,
    applies,
    coldPlan,
    warmPlan,
    imported,
    daemon,
    pushes,
    documentedPlan,
    smallPlan,
    dryRuns,
    manyTargets,
  } = results;
  const { count } = size;
  const [cold, warm] = count > GOALS ? [1200, 600] : [320, 220];
  return [
    judgeTime("validate of one file", startUp, { atMost: 5 }),
    judgeTime("validate, cold", validate, { atMost: 1.2 }),
    judgeTime("validate, one fault in each file", faulty, { atMost: 3 }),
    judgeTime("plan, cold", coldPlan, { atMost: 1.2 }),
    judgeTime("plan, warm", warmPlan, { atMost: 1.4 }),
    judgePasses("daemon, nothing to do (CPU)", [daemon.idle, coldPlan.ours].map(busy), { atMost: 0.4 }),
    judgePasses("daemon, one changed file (CPU)", [daemon.changed, coldPlan.ours].map(busy), { atMost: 0.5 }),
    judgePasses("push to the end of its pass", [pushes.pushes, coldPlan.ours].map(clock), { atMost: 0.5 }),
    judgeRest("daemon, between passes", pushes.restShare, { atMost: 0.005 }),
    judgeTime("plan, warm, documented only", documentedPlan, { atMost: 1.4 }),
    // At most 1.3 times as long as the same requests of a bare pool.
    judgeSending("plan of new services, dry runs", dryRuns, { atLeast: 0.77, count }),
    tellRate("plan of new services, whole command", dryRuns, { count }),
    judgeFloor("validate of 200 targets (CPU)", manyTargets.validate, { atMost: 10 }),
    judgeFloor("plan of 200 targets (CPU)", manyTargets.plan, { atMost: 16 }),
    judgeFloor("apply of one of 200 targets (CPU)", manyTargets.apply, { atMost: 6 }),
    judgeClock("import", imported, { atMost: Math.max(10_000, size.count) }),
    judgeClock("plan of 100", smallPlan, { atMost: 500 }),
    // For 10,000 resources.
    judgeMilliseconds("dashboard, first view", dashboard.firstViews, { atMost: Math.max(1000, size.count / 10) }),
    judgeMilliseconds("dashboard, one update", dashboard.updates, { atMost: 200 }),
    ...(applies === null
      ? []
      : [
          judgeSending("apply, sending", applies.near, { atLeast: 0.7, count }),
          tellRate("apply, whole command", applies.near, { count }),
          judgeSending("apply, sending, 20 ms away", applies.far, { atLeast: 0.9, count }),
          tellRate("apply, whole command, 20 ms away", applies.far, { count }),
          judgePeak("memory of apply", applies.near, { atMost: cold }),
        ]),
    judgePeak("memory of a cold plan", coldPlan, { atMost: cold }),
    judgePeak("memory of a warm plan", warmPlan, { atMost: warm }),
    judgePeak("memory of a warm plan, documented only", documentedPlan, { atMost: warm }),
    ...(count > GOALS
      ? []
      : [
          judgeMemory("memory of a daemon", daemon.peakMegabytes, { atMost: 300 }),
          judgeMemory("memory of a daemon, first pass of its state", pushes.peakMegabytes, { atMost: 350 }),
        ]),
    ...growth(results),
  ];
}

// A command over many targets waits more than it works, so what it works is judged.
function judgeFloor(measure: string, { ours, floor }: Measured, { atMost }: { readonly atMost: number }): Row {
  return judgeTimes(measure, [ours, floor].map(busy), { atMost, unit: "floor" });
}

// By what power of the number of manifests the time grows, from the size that the goals are set for.
function growth({ coldPlan, warmPlan, pushes }: Results): readonly Row[] {
  const before = join(import.meta.dirname, "results", `${GOALS}.json`);
  if (size.count <= GOALS || !existsSync(before)) return [];
  const { runs } = JSON.parse(readFileSync(before, "utf8")) as {
    runs: Pick<Results, "coldPlan" | "warmPlan" | "pushes">;
  };
  const factor = size.count / GOALS;
  return [
    judgeGrowth("growth of a cold plan from 10,000", { from: runs.coldPlan, to: coldPlan, factor }, { atMost: 1.05 }),
    judgeGrowth("growth of a warm plan from 10,000", { from: runs.warmPlan, to: warmPlan, factor }, { atMost: 0.9 }),
    judgeTimes(
      "push (CPU), in multiples of 10,000",
      [pushes, runs.pushes].map((one) => busy(one.pushes)),
      { atMost: 2 },
    ),
  ];
}

function withoutResults(all: Results): unknown {
  return JSON.parse(JSON.stringify(all, (key, value) => (key === "result" ? undefined : value)));
}
