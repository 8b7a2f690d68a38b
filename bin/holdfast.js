#!/usr/bin/env -S node --max-semi-space-size=16 --heap-growing-percent=100
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

if (Number(process.versions.node.split(".")[0]) < 24) {
  const remedy = existsSync(new URL("../src/cli.ts", import.meta.url))
    ? "\n  → in a checkout start it as `npm run -s holdfast -- …`: npm ci has brought the right Node"
    : ": install Node 24, or use the executable of the release (holdfast-linux-x64), which needs no Node";
  process.stderr.write(`error: holdfast needs Node 24 or newer, this is ${process.version}${remedy}\n`);
  process.exit(1);
}

// Made from schemas and pipelines, and given a new time by every check.
const COMPILED = [
  "commands/generated",
  "daemon/api/generated",
  "schema/generated",
  "server/generated",
  "contract/generated/manifests.ts",
  "contract/generated/resources.ts",
];

const bundle = new URL("../dist/holdfast.js", import.meta.url);
const sources = ["../src/", "../schemas/"].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));
await import(isCurrent() ? bundle.href : new URL("../src/cli.ts", import.meta.url).href);

// An installed package has the bundle alone; in a checkout, a bundle that is older than the sources is not used.
function isCurrent() {
  const builtAt = changedAt(fileURLToPath(bundle));
  return builtAt !== 0 && sources.every((folder) => newestIn(folder) <= builtAt);
}

function newestIn(folder) {
  if (changedAt(folder) === 0) return 0;
  let newest = 0;
  for (const name of readdirSync(folder, { recursive: true })) {
    if (COMPILED.some((beginning) => name.startsWith(beginning))) continue;
    newest = Math.max(newest, changedAt(folder + name));
  }
  return newest;
}

function changedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
