// Takes one safeguard after the other out of a copy of the checkout, and runs the simulation there until it notices.
// Arguments name the safeguards; without any, all are taken out. `--steps` is the most events for each, `--workers` how many
// are taken out at a time.
import { spawn, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import PQueue from "p-queue";
import { applyMutation } from "../mutations/apply-mutation.ts";
import { copyCheckout } from "../support/copy-checkout.ts";
import { publish } from "./publish.ts";
import type { SimulationResult } from "./run.ts";
import { type Safeguard, safeguards } from "./safeguards.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    steps: { type: "string", default: "200000" },
    seed: { type: "string", default: "1" },
    workers: { type: "string", default: "1" },
    publish: { type: "boolean", default: false },
  },
});

/** Whether the simulation notices that a safeguard is gone, and after how many events. */
export type TakenOut = {
  readonly name: string;
  readonly steps: number;
  readonly violation: { readonly seed: number; readonly invariant: string; readonly text: string } | null;
};

const chosen = safeguards.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const queue = new PQueue({ concurrency: Number(values.workers) });
const results = await queue.addAll(
  chosen.map((safeguard) => async () => {
    const result = await takeOut(safeguard);
    const { violation, steps } = result;
    const said = violation === null ? "NOT NOTICED" : `noticed (seed ${violation.seed}): ${violation.invariant}`;
    process.stdout.write(`without ${safeguard.name}: ${said}, after ${steps} events\n`);
    return result;
  }),
);
const noticed = results.filter(({ violation }) => violation !== null).length;
if (values.publish) publish("safeguards", table());
process.stdout.write(`${noticed} of ${results.length} were noticed\n`);
process.exitCode = noticed === results.length ? 0 : 1;

function table(): string {
  const rows = results.map(
    ({ name, steps, violation }) =>
      `| ${name} | ${violation === null ? "not noticed" : violation.invariant} | ${steps.toLocaleString("en")} |`,
  );
  const steps = Number(values.steps).toLocaleString("en");
  return [
    `${noticed} of the ${results.length} are noticed within ${steps} steps:`,
    "",
    "| without | noticed as | steps |",
    "| --- | --- | ---: |",
    ...rows,
  ].join("\n");
}

async function takeOut(safeguard: Safeguard): Promise<TakenOut> {
  const { name } = safeguard;
  const folder = copyCheckout();
  try {
    spawnSync(process.execPath, ["scripts/generate.ts"], { cwd: folder, stdio: "ignore" });
    applyMutation(safeguard, folder);
    const args = ["test/simulation/run.ts", "--seed", values.seed, "--steps", values.steps, "--no-shrink", "--json"];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const result = parsed(stdout);
    if (result === null) throw new Error(`${name}: the simulation does not run: ${stderr.slice(-2000)}`);
    return { name, steps: result.steps, violation: result.violations[0] ?? null };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function parsed(text: string): SimulationResult | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
