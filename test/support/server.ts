import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished } from "vitest";
import { bundled } from "./bundled-commands.ts";
import { temporaryFolder } from "./folder.ts";
import { type Running, start } from "./process.ts";

/** A recorded effect of a control plane. */
export type Effect = { readonly principal: string; readonly operation: string; readonly resource: string };

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Body = any;

/** A running control plane. */
export type Server = {
  readonly url: string;
  readonly token: string;
  readonly data: string;
  /** Every effect on resources that the audit log holds, oldest first; who had a lease is another matter. */
  readonly effects: () => readonly Effect[];
  /** Calls it as its administrator, or with another token; fails unless it answers 200. */
  readonly call: (method: "GET" | "PUT" | "POST", path: string, body?: unknown, by?: string) => Promise<Body>;
};

/** One that runs as a process of its own. */
export type ServerProcess = Server & { readonly process: Running };

/** How a control plane is started. */
export type ServeOptions = {
  readonly data?: string;
  readonly rolloutSeconds?: number;
  readonly env?: { readonly [name: string]: string };
};

/** Starts `holdfast serve` in the process of the tests, on a port of the kernel's choice; further flags as given. */
export async function serve(flags: readonly string[] = [], options: ServeOptions = {}): Promise<Server> {
  const { args, data } = await commandLine(flags, options);
  const { url, stop } = await bundled().serveHere(args, await temporaryFolder());
  onTestFinished(stop);
  return serverAt(url, data);
}

/** Starts it as a process of its own: for a test that ends it, or reads what it prints. */
export async function serveProcess(flags: readonly string[] = [], options: ServeOptions = {}): Promise<ServerProcess> {
  const { args, data } = await commandLine(flags, options);
  const { env = {} } = options;
  const process = start(["serve", ...args], { cwd: await temporaryFolder(), env });
  const [, url = ""] = await process.shows("stdout", /^listening on (\S+)\n/);
  return { ...serverAt(url, data), process };
}

async function commandLine(flags: readonly string[], { data, rolloutSeconds = 0 }: ServeOptions) {
  const folder = data ?? join(await temporaryFolder(), "control-plane");
  return { args: ["--port", "0", "--data", folder, "--rollout-seconds", `${rolloutSeconds}`, ...flags], data: folder };
}

function serverAt(url: string, data: string): Server {
  const token = readFileSync(join(data, "admin-token"), "utf8").trim();
  return { url, token, data, effects: () => readEffects(data), call };

  async function call(method: string, path: string, body?: unknown, by = token): Promise<Body> {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${by}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }
}

function readEffects(data: string): readonly Effect[] {
  using database = new DatabaseSync(join(data, "control-plane.db"), { readOnly: true, timeout: 60_000 });
  return database
    .prepare(
      "SELECT principal, operation, resource FROM audit WHERE outcome = 'done' AND operation <> 'E10' ORDER BY id",
    )
    .all()
    .map(({ principal, operation, resource }) => ({
      principal: String(principal),
      operation: String(operation),
      resource: String(resource),
    }));
}
