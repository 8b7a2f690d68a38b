import { readFileSync } from "node:fs";
import { openPool } from "./list-live.ts";

/** A warm `plan` where applications and clusters have no list: the reads of each of them, from a bare pool. */
const [, , file = "", concurrency = "64"] = process.argv;
const paths: readonly string[] = JSON.parse(readFileSync(file, "utf8"));
const { pool, headers } = openPool(Number(concurrency));
const queue = paths.values();
const worker = async () => {
  for (const path of queue) {
    const { statusCode, body } = await pool.request({ method: "GET", path, headers });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
  }
};
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
await pool.destroy();
process.stdout.write(`${JSON.stringify({ reads: paths.length })}\n`);
