import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { inject, onTestFinished } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { databaseOf } from "./test-database.ts";

/** A control plane in a process of its own. */
export type Apart = { readonly child: ChildProcess; readonly url: string; readonly token: Secret };

/** How a control plane apart is started. */
export type ApartOptions = {
  readonly rolloutSeconds?: number;
  /** Its database; by default that of its folder. */
  readonly database?: string;
  /** What servers share that share a database; by default in files of the folder. */
  readonly shared?: { readonly serverKey: string; readonly adminToken: string };
  /** By how much its clock is ahead. */
  readonly aheadMs?: number;
};

/** Starts a control plane in a process of its own; it is killed when the test is over. */
export async function serveApart(data: string, options: ApartOptions = {}): Promise<Apart> {
  const { rolloutSeconds = 0, shared, aheadMs = 0 } = options;
  const bundles = inject("processes");
  const script =
    bundles === undefined
      ? new URL("../conformance/serve-child.ts", import.meta.url).pathname
      : join(bundles, "serve/serve-child.js");
  const database = options.database ?? (await databaseOf(data)) ?? undefined;
  const clock = `const { now } = Date; Date.now = () => now() + ${aheadMs};`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(clock)}`, script];
  const child = spawn(process.execPath, [...args, JSON.stringify({ data, rolloutSeconds, database, ...shared })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`it ended with ${code}`);
  });
  const [url] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  ended.catch(() => {});
  const token = shared?.adminToken ?? (await readFile(join(data, "admin-token"), "utf8")).trim();
  return { child, url: String(url), token: new Secret(token) };
}

/** Kills a process as a power cut would, and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
