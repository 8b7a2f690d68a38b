import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundleFloors } from "./build-floors.ts";
import { exitCodeOf, type Row, table } from "./judge-results.ts";
import { compareWithCheckout } from "./server/compare-with-checkout.ts";
import { compareWithFloor } from "./server/compare-with-floor.ts";
import { atScale } from "./server/scale.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "9" },
    applications: { type: "string", default: "10000" },
    deployments: { type: "string", default: "100" },
    // Another checkout that was built: its writes are compared with those of this one, and nothing else is measured.
    against: { type: "string" },
  },
});
const rounds = Number(values.rounds);
const large = { workspaces: 100, applications: Number(values.applications), deployments: Number(values.deployments) };
const note = (line: string) => console.error(line);
const work = mkdtempSync(join(tmpdir(), "holdfast-bench-server-"));
try {
  const rows =
    values.against === undefined ? await measureAll() : await compareWithCheckout(work, values.against, rounds);
  process.exitCode = exitCodeOf(rows);
  const program = existsSync(join(import.meta.dirname, "../dist/holdfast.js")) ? "bundle" : "sources";
  console.log(`\n${table(rows)}\n\nMeasured: the ${program}.`);
  if (program === "sources") console.log("Start-up counts: npm run build makes the bundle that users run.");
  const [cpu] = cpus();
  const machine = { cpu: cpu?.model, cores: cpus().length, memory: totalmem(), node: process.version };
  const results = join(import.meta.dirname, "results");
  mkdirSync(results, { recursive: true });
  writeFileSync(
    join(results, "server.json"),
    `${JSON.stringify({ rounds, large, program, machine, rows }, null, 2)}\n`,
  );
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function measureAll(): Promise<readonly Row[]> {
  note("against bare handlers");
  const floors = await compareWithFloor(work, await bundleFloor(), rounds);
  note(`${large.applications} applications of ${large.deployments} deployments each, against 1,000 of one`);
  return [...floors, ...(await atScale(work, { large, rounds, note }))];
}

// A bundle, as ours is one.
async function bundleFloor(): Promise<string> {
  await bundleFloors([join(import.meta.dirname, "server/floor.ts")], work);
  return join(work, "floor.mjs");
}
