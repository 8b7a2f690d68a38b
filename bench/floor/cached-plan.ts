import { hash } from "node:crypto";
import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import type { JsonObject } from "../../src/contract/json.ts";
import { listLive } from "./list-live.ts";
import { keyOf, listFiles, readManifest } from "./read-manifests.ts";

/** What is remembered: each file as it was, and the digest of what was live then and equal. */
type Memory = { readonly files: Record<string, string>; readonly live: Record<string, string> };

/** A warm `plan` with nothing but its unavoidable work: stat, list live, compare by remembered digests. */
const [, , folder = ".", memoryFile = "floor.json"] = process.argv;
const memory: Memory | null = existsSync(memoryFile) ? JSON.parse(readFileSync(memoryFile, "utf8")) : null;
const files = listFiles(folder).map((file) => [file, stamp(file)] as const);
const changed = files.filter(([file, seen]) => memory?.files[file] !== seen).map(([file]) => readManifest(file));
const live = (await listLive()).map((manifest) => [keyOf(manifest), digest(manifest)] as const);
const same = live.filter(([key, seen]) => memory?.live[key] === seen);
if (memory === null) writeFileSync(memoryFile, JSON.stringify(remember()));
const manifests = files.length - changed.length;
process.stdout.write(`${JSON.stringify({ manifests, same: same.length })}\n`);

function remember(): Memory {
  return { files: Object.fromEntries(files), live: Object.fromEntries(live) };
}

function stamp(file: string): string {
  const { mtimeMs, size, ino } = lstatSync(file);
  return `${mtimeMs}:${size}:${ino}`;
}

function digest(manifest: JsonObject): string {
  return hash("sha256", JSON.stringify(manifest), "base64");
}
