import { readFileSync } from "node:fs";
import type { JsonObject } from "../../src/contract/json.ts";
import { openPool } from "./list-live.ts";

/** The same dry runs as `plan` from a bare pool: bodies ready in memory, no order, and nothing done with the replies. */
const [, , file = "", concurrency = "64"] = process.argv;
const manifests: readonly JsonObject[] = JSON.parse(readFileSync(file, "utf8"));
const { pool, headers } = openPool(Number(concurrency));
const queue = manifests.values();
const worker = async () => {
  for (const manifest of queue) await ask(manifest);
};
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
await pool.destroy();
process.stdout.write(`${JSON.stringify({ manifests: manifests.length })}\n`);

async function ask(manifest: JsonObject): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: "PUT",
    path: "/api/svc/v1/apps",
    headers,
    body: JSON.stringify({ manifest, dryRun: true }),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`a dry run answered ${statusCode}: ${text}`);
}
