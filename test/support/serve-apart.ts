import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { databaseOf } from "./databases.ts";

/** A control plane in a process of its own. */
export type Apart = { readonly child: ChildProcess; readonly url: string; readonly token: Secret };

/** Starts a control plane in a process of its own; it is killed when the test is over. */
export async function serveApart(data: string, rolloutSeconds = 0): Promise<Apart> {
  const script = new URL("../conformance/serve-child.ts", import.meta.url).pathname;
  const database = await databaseOf(data);
  const args = [script, data, String(rolloutSeconds), ...(database === null ? [] : [database])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const [url] = await once(createInterface(child.stdout), "line");
  const token = new Secret((await readFile(join(data, "admin-token"), "utf8")).trim());
  return { child, url: String(url), token };
}

/** Kills a process as a power cut would, and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
