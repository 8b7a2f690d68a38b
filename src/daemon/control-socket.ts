import { chmodSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { join, relative } from "node:path";
import { json } from "node:stream/consumers";
import type { TargetStatus } from "../core/target-status.ts";
import { createFile } from "../files/write.ts";
import { makeFolder } from "../store/make-folder.ts";

/** What a running daemon answers on its socket. */
export type DaemonReply = { readonly pid: number; readonly targets: readonly TargetStatus[] };

/** What a daemon can be asked for. */
export type DaemonControl = {
  readonly status: () => readonly TargetStatus[];
  /** Makes a pass over a target, or over all; resolves when it has ended. */
  readonly reconcile: (target: string | null) => Promise<void>;
};

/** The kernel takes no longer paths of sockets. */
const LONGEST_PATH = 100;
/** How long another daemon may take to answer before its socket counts as left behind. */
const ANSWER_MS = 2000;

/** The socket of the daemon on a state folder, by the shorter of its names; null where both are too long. */
function socketPath(stateFolder: string): string | null {
  const path = join(stateFolder, "daemon.sock");
  const short = [path, relative(process.cwd(), path)].toSorted((a, b) => a.length - b.length)[0] ?? path;
  return Buffer.byteLength(short) > LONGEST_PATH ? null : short;
}

/** Answers on a socket that only its owner may use; null where the state folder's path is too long for one. */
export async function serveControl(stateFolder: string, control: DaemonControl): Promise<AsyncDisposable | null> {
  const path = socketPath(stateFolder);
  if (path === null) return null;
  // Another process with the same state folder answers there already, and its targets are locked.
  const signal = AbortSignal.timeout(ANSWER_MS);
  if ((await askDaemon(stateFolder, { method: "GET", path: "/status" }, { signal })) !== null) return null;
  const server = createServer(async ({ method, url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://daemon");
    if (method === "POST" && pathname === "/reconcile") await control.reconcile(searchParams.get("target"));
    else if (method !== "GET" || pathname !== "/status") return void response.writeHead(404).end();
    const reply: DaemonReply = { pid: process.pid, targets: control.status() };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  await makeFolder(stateFolder);
  // It may lie in a checkout.
  createFile(join(stateFolder, ".gitignore"), "*\n");
  // What a killed daemon has left.
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Asks the daemon that runs on a state folder; null where none does. */
export async function askDaemon(
  stateFolder: string,
  { method, path }: { readonly method: "GET" | "POST"; readonly path: string },
  { signal }: { readonly signal: AbortSignal },
): Promise<DaemonReply | null> {
  const socket = socketPath(stateFolder);
  if (socket === null) return null;
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, method, path, signal }, (response) => {
      json(response).then((reply) => resolve(reply as DaemonReply), reject);
    });
    asked.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED" || error.code === "ECONNRESET") resolve(null);
      else reject(error);
    });
    asked.end();
  });
}
