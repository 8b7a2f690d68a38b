// Runs the simulation: `--seed` begins with that script, `--steps` ends after so many events, `--workers` shares them
// among processes, and `--replay` runs a script from a file and tells in words what happens.
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { loadSources } from "./load-sources.ts";
import { publish } from "./publish.ts";
import { orderThreadPoolCalls } from "./scheduler.ts";
import { inWords, type Script, scriptOf } from "./script.ts";
import { eventsIn, shrink } from "./shrink.ts";
import { runScript } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "100000" },
    workers: { type: "string", default: "1" },
    stride: { type: "string", default: "1" },
    replay: { type: "string" },
    "no-shrink": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    publish: { type: "boolean", default: false },
  },
});

/** What a run has seen. */
export type SimulationResult = {
  readonly seeds: readonly [first: number, last: number];
  readonly scripts: number;
  readonly steps: number;
  readonly seconds: number;
  /** A digest of everything that was delivered: the same for the same seed and steps. */
  readonly trace: string;
  readonly counts: { readonly [kind: string]: number };
  readonly violations: readonly { readonly seed: number; readonly invariant: string; readonly text: string }[];
};

if (values.replay !== undefined) await replay(values.replay);
else if (Number(values.workers) > 1) await share(Number(values.workers));
else report(await simulate(Number(values.seed), Number(values.steps), Number(values.stride)));

async function simulate(first: number, most: number, stride: number): Promise<SimulationResult> {
  await prepare();
  const begunAt = performance.now();
  const counts = new Map<string, number>();
  const violations: { seed: number; invariant: string; text: string }[] = [];
  let [steps, scripts, seed, trace] = [0, 0, first, ""];
  for (; steps < most && violations.length === 0; seed += stride) {
    const script = scriptOf(seed);
    const ended = await runScript(script, { most: most - steps });
    steps += ended.steps;
    scripts += 1;
    trace = hash("sha1", `${trace} ${ended.trace}`);
    for (const [kind, count] of ended.counts) counts.set(kind, (counts.get(kind) ?? 0) + count);
    if (ended.violation === null) continue;
    violations.push({ seed, ...ended.violation });
    const file = `simulation-${seed}.json`;
    const shortest = values["no-shrink"] ? script : await shrink(script, ended);
    writeFileSync(file, `${JSON.stringify(shortest, null, 2)}\n`);
    process.stderr.write(
      `seed ${seed}, after ${ended.steps} events: ${ended.violation.invariant}: ${ended.violation.text}\n` +
        (values["no-shrink"]
          ? ""
          : `${eventsIn(shortest)} of its ${eventsIn(script)} happenings are enough:\n${tale(shortest)}`) +
        `npm run simulation-test -- --replay ${file}\n`,
    );
  }
  const seconds = (performance.now() - begunAt) / 1000;
  const all = Object.fromEntries([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { seeds: [first, seed - stride], scripts, steps, seconds, trace, counts: all, violations };
}

function tale({ rounds }: Script): string {
  return rounds
    .map((round, nth) =>
      [
        `  round ${nth + 1}`,
        ...round.map((event) => `    ${(event.at / 1000).toFixed(3)} s: ${inWords(event)}`),
        "",
      ].join("\n"),
    )
    .join("");
}

async function replay(file: string): Promise<void> {
  await prepare();
  const script: Script = JSON.parse(readFileSync(file, "utf8"));
  const tell = (at: number, what: string): void => void process.stdout.write(`${(at / 1000).toFixed(3)} s  ${what}\n`);
  const { violation, steps, trace } = await runScript(script, { tell });
  process.stdout.write(`${steps} events, trace ${trace}\n`);
  if (violation === null) return;
  process.stdout.write(`${violation.invariant}: ${violation.text}\n`);
  process.exitCode = 1;
}

/** Runs a part of the steps in each of several processes, each with seeds of its own. */
async function share(workers: number): Promise<void> {
  const begunAt = performance.now();
  const parts = await Promise.all(
    Array.from({ length: workers }, async (_, nth) => {
      const args = [
        ...["--seed", String(Number(values.seed) + nth), "--stride", String(workers), "--json"],
        ...["--steps", String(Math.ceil(Number(values.steps) / workers))],
        ...(values["no-shrink"] ? ["--no-shrink"] : []),
      ];
      const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, ...args], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      return JSON.parse(await text(child.stdout)) as SimulationResult;
    }),
  );
  const counts: { [kind: string]: number } = {};
  for (const part of parts)
    for (const [kind, count] of Object.entries(part.counts)) counts[kind] = (counts[kind] ?? 0) + count;
  report({
    seeds: [Math.min(...parts.map(({ seeds }) => seeds[0])), Math.max(...parts.map(({ seeds }) => seeds[1]))],
    scripts: parts.reduce((sum, part) => sum + part.scripts, 0),
    steps: parts.reduce((sum, { steps }) => sum + steps, 0),
    seconds: (performance.now() - begunAt) / 1000,
    trace: hash("sha1", parts.map(({ trace }) => trace).join(" ")),
    counts,
    violations: parts.flatMap(({ violations }) => violations),
  });
}

function report(result: SimulationResult): void {
  const { seeds, scripts, steps, seconds, trace, counts, violations } = result;
  if (violations.length > 0) process.exitCode = 1;
  if (values.publish && violations.length === 0) publish("results", resultText(result));
  if (values.json) return void process.stdout.write(JSON.stringify(result));
  const rows = Object.entries(counts).map(([kind, count]) => `  ${String(count).padStart(9)} × ${kind}\n`);
  process.stdout.write(
    `${rows.join("")}seeds ${seeds[0]} to ${seeds[1]}, ${scripts} scripts, ${steps} events in ${seconds.toFixed(1)} s ` +
      `(${Math.round(steps / seconds)} a second), trace ${trace.slice(0, 8)}: ${violations.length === 0 ? "no violation" : `${violations.length} violated`}\n`,
  );
}

function resultText({ seeds, scripts, steps, seconds, counts }: SimulationResult): string {
  const rows = Object.entries(counts).map(([kind, count]) => `| ${kind} | ${count.toLocaleString("en")} |`);
  return [
    `The run of ${new Date().toISOString().slice(0, 10)} over the seeds ${seeds[0]} to ${seeds[1]} (${scripts} scripts) delivered ${steps.toLocaleString("en")} events,`,
    `${Math.round(steps / seconds).toLocaleString("en")} a second in ${values.workers} processes, and violated no invariant. It had:`,
    "",
    "| what | how often |",
    "| --- | ---: |",
    ...rows,
    "",
    "It has found these faults of the product, each of which is now a script in `test/simulation/faults` that the suite runs:",
    "",
    ...found().map((fault) => `- ${fault}`),
  ].join("\n");
}

function found(): readonly string[] {
  const files = globSync("*.json", { cwd: join(import.meta.dirname, "faults") });
  return files.map((file) => file.replace(/\.json$/, "").replaceAll("-", " ")).toSorted();
}

async function prepare(): Promise<void> {
  orderThreadPoolCalls();
  await loadSources();
}
