// Runs the sweeps; with `--publish`, docs/reliability.md is written from their results, and from those that the file
// `SOAK_RESULTS` has of earlier runs, so that a run may be done in parts.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { reliabilityPage } from "../test/soak/reliability-page.ts";

const root = resolve(import.meta.dirname, "..");
const isPublished = process.argv.includes("--publish");
const folder = mkdtempSync(join(tmpdir(), "holdfast-soak-"));
const results = process.env.SOAK_RESULTS ?? join(folder, "results.jsonl");
try {
  const more = process.argv.slice(2).filter((argument) => argument !== "--publish");
  const args = ["node_modules/vitest/vitest.mjs", "run", ...more, "--project", "soak", "--disable-console-intercept"];
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, SOAK: process.env.SOAK ?? "long", SOAK_RESULTS: results },
  });
  if (status !== 0) process.exitCode = 1;
  else if (isPublished) publish();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function publish(): void {
  const lines = readFileSync(results, "utf8").trim().split("\n");
  const date = new Date().toISOString().slice(0, 10);
  const page = reliabilityPage({ date, results: lines.map((line) => JSON.parse(line)) });
  writeFileSync(join(root, "docs/reliability.md"), page);
}
