import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "./folder.ts";
import { type Running, start } from "./process.ts";

/** A recorded effect of a control plane. */
export type Effect = { readonly principal: string; readonly operation: string; readonly resource: string };

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Body = any;

/** A control plane that runs as a process of its own. */
export type Server = {
  readonly url: string;
  readonly token: string;
  readonly data: string;
  readonly process: Running;
  /** Every effect on resources that the audit log holds, oldest first; who had a lease is another matter. */
  readonly effects: () => readonly Effect[];
  /** Calls it as its administrator; fails unless it answers 200. */
  readonly call: (method: "GET" | "PUT" | "POST", path: string, body?: unknown) => Promise<Body>;
};

/** How a control plane is started. */
export type ServeOptions = { readonly data?: string; readonly rolloutSeconds?: number };

/** Starts `holdfast serve` on a port of the kernel's choice; further flags as given. */
export async function serve(
  flags: readonly string[] = [],
  { data, rolloutSeconds = 0 }: ServeOptions = {},
): Promise<Server> {
  const folder = data ?? join(await temporaryFolder(), "control-plane");
  const args = ["serve", "--port", "0", "--data", folder, "--rollout-seconds", `${rolloutSeconds}`, ...flags];
  const process = start(args, { cwd: await temporaryFolder() });
  const [, url = ""] = await process.shows("stdout", /^listening on (\S+)\n/);
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  return { url, token, data: folder, process, effects: () => readEffects(folder), call };

  async function call(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }
}

function readEffects(data: string): readonly Effect[] {
  using database = new DatabaseSync(join(data, "control-plane.db"), { readOnly: true, timeout: 5000 });
  return database
    .prepare("SELECT principal, operation, resource FROM audit WHERE operation <> 'E10' ORDER BY id")
    .all()
    .map(({ principal, operation, resource }) => ({
      principal: String(principal),
      operation: String(operation),
      resource: String(resource),
    }));
}
