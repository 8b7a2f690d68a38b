import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject } from "../../src/contract/json.ts";
import { openPool } from "./list-live.ts";

const PATHS: { readonly [type: string]: string } = {
  cluster: "/api/svc/v1/clusters",
  team: "/api/svc/v1/teams",
  "ml-repo": "/api/svc/v1/ml-repos",
  workspace: "/api/svc/v1/workspaces",
  "virtual-account": "/api/svc/v1/virtual-accounts",
  service: "/api/svc/v1/apps",
  "model-version": "/api/ml/v1/model-versions",
  chat_prompt: "/api/ml/v1/prompt-versions",
};
// What refers to nothing, then workspaces, then what refers to those.
const PHASES = [
  ["team"],
  ["cluster", "ml-repo"],
  ["workspace"],
  ["virtual-account", "service", "model-version", "chat_prompt"],
];

/**
 * The same PUTs as `apply` from a bare pool: bodies ready in memory, no order beyond what the server insists on. They
 * carry a key as those of `apply` do, since the server keeps the reply to each.
 */
const [, , file = "", concurrency = "64"] = process.argv;
const manifests: readonly JsonObject[] = JSON.parse(readFileSync(file, "utf8"));
const { pool, headers } = openPool(Number(concurrency));
for (const phase of PHASES) {
  const queue = manifests.filter(({ type }) => phase.includes(String(type))).values();
  const worker = async () => {
    for (const manifest of queue) await put(manifest);
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, worker));
}
await pool.destroy();
process.stdout.write(`${JSON.stringify({ manifests: manifests.length })}\n`);

async function put(manifest: JsonObject): Promise<void> {
  const path = PATHS[String(manifest.type)] ?? "";
  const { statusCode, body } = await pool.request({
    method: "PUT",
    path,
    headers: { ...headers, "idempotency-key": randomUUID() },
    body: JSON.stringify({ manifest }),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}: ${text}`);
}
