import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { request } from "undici";
import { cleanEnvironment } from "./child.ts";
import { secretGroup } from "./corpus/block.ts";

/** A control plane in a process of its own, with nothing in it but the secrets of the corpus. */
export type Plane = {
  /** Environment under which a client finds it. */
  readonly env: { readonly HOLDFAST_SERVER: string; readonly HOLDFAST_TOKEN: string };
  readonly stop: () => Promise<void>;
};

const TOKEN = "bench-only-admin-token-0123456789abcdef";

/** Starts an empty control plane whose rollouts take no time. */
export async function startPlane(): Promise<Plane> {
  const data = mkdtempSync(join(tmpdir(), "holdfast-bench-plane-"));
  const bin = join(import.meta.dirname, "../bin/holdfast.js");
  const child = spawn(process.execPath, [bin, "serve", "--port", "0", "--data", data, "--rollout-seconds", "0"], {
    env: { ...cleanEnvironment(), HOLDFAST_ADMIN_TOKEN: TOKEN, HOLDFAST_LOG_LEVEL: "error" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(data, { recursive: true, force: true });
  };
  try {
    const server = await listeningAt(child.stdout);
    await makeSecrets(server);
    return { env: { HOLDFAST_SERVER: server, HOLDFAST_TOKEN: TOKEN }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function listeningAt(stdout: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const [, server] = /^listening on (http:\S+)$/.exec(line) ?? [];
    if (server !== undefined) return server;
  }
  throw new Error("the control plane ended before it listened");
}

async function makeSecrets(server: string): Promise<void> {
  const { statusCode, body } = await request(`${server}/api/svc/v1/secret-groups`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify(secretGroup),
  });
  const answer = await body.text();
  if (statusCode !== 200) throw new Error(`the secrets were refused with ${statusCode}: ${answer.slice(0, 500)}`);
}
