import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bench, type Results, type Size } from "./bench.ts";
import { judgeClock, judgePeak, judgeRate, judgeTime, type Row, table } from "./verdict.ts";

const { values } = parseArgs({
  options: {
    n: { type: "string", default: "1000" },
    pairs: { type: "string", default: "5" },
    concurrency: { type: "string", default: "64" },
  },
});
const size: Size = { count: Number(values.n), pairs: Number(values.pairs), concurrency: Number(values.concurrency) };
try {
  report(await bench(size, (line) => console.error(line)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function report(results: Results): void {
  const rows = judge(results);
  const program = existsSync(join(import.meta.dirname, "../dist/holdfast.js")) ? "bundle" : "sources";
  console.log(`\n${table(rows)}\n\nMeasured: the ${program}.`);
  if (program === "sources") console.log("Start-up counts: npm run build makes the bundle that users run.");
  if (size.count !== 10_000) console.log("The goals are set for 10,000 manifests: npm run bench -- --n 10000");
  const [cpu] = cpus();
  const machine = { cpu: cpu?.model, cores: cpus().length, memory: totalmem(), node: process.version };
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ ...size, program, machine, rows, runs: withoutResults(results) }, null, 2);
  writeFileSync(join(folder, `${size.count}.json`), `${text}\n`);
}

function judge({ startUp, validate, apply, farApply, coldPlan, warmPlan }: Results): readonly Row[] {
  const { count } = size;
  return [
    judgeTime("validate of one file", startUp, { atMost: 5 }),
    judgeTime("validate, cold", validate, { atMost: 1.2 }),
    judgeTime("plan, cold", coldPlan, { atMost: 1.25 }),
    judgeTime("plan, warm", warmPlan, { atMost: 1.4 }),
    ...(count <= 100 ? [judgeClock("plan of 100", coldPlan, { atMost: 500 })] : []),
    judgeRate("apply", apply, { atLeast: 0.7, count }),
    judgeRate("apply, 20 ms away", farApply, { atLeast: 0.9, count }),
    judgePeak("memory of a cold plan", coldPlan, { atMost: 320 }),
    judgePeak("memory of a warm plan", warmPlan, { atMost: 220 }),
    judgePeak("memory of apply", apply, { atMost: 320 }),
  ];
}

function withoutResults(all: Results): unknown {
  return JSON.parse(JSON.stringify(all, (key, value) => (key === "result" ? undefined : value)));
}
