import { chmodSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { join, relative } from "node:path";
import { json } from "node:stream/consumers";
import { HoldfastError } from "../core/errors.ts";
import type { TargetStatus } from "../core/report/target-status.ts";
import { createFile } from "../files/write-file.ts";
import { makeFolder } from "../store/make-folder.ts";

/** What a running daemon answers on its socket. */
export type DaemonReply = { readonly pid: number; readonly targets: readonly TargetStatus[] };

/** What a daemon can be asked for. */
export type DaemonControl = {
  readonly status: () => readonly TargetStatus[];
  /** Makes a pass over a target, or over all; resolves when it has ended. */
  readonly reconcile: (target: string | null) => Promise<void>;
  /** Carries out a command between two passes; what it answers can be written as JSON. */
  readonly carryOut: (command: DaemonCommand) => Promise<unknown>;
};

/** A command that changes what a daemon holds locked, by the name of its target. */
export type DaemonCommand = { readonly target: string } & (
  | { readonly is: "adopt"; readonly identities: readonly string[] | null }
  | { readonly is: "forget"; readonly identities: readonly string[] }
  | { readonly is: "redeploy"; readonly identities: readonly string[]; readonly force: boolean }
  | { readonly is: "resolve"; readonly identities: readonly string[]; readonly as: "applied" | "refused" | null }
  | { readonly is: "hold"; readonly what: string; readonly reason: string; readonly until: string }
  | { readonly is: "release"; readonly what: string }
);

/** What a daemon answers to a command: what came of it, or why it was refused. */
type CommandReply =
  | { readonly is: "done"; readonly result: unknown }
  | ({ readonly is: "refused" } & Pick<HoldfastError, "code" | "message" | "hint" | "diagnostics">);

/** The kernel takes no longer paths of sockets. */
const MAX_PATH_LENGTH = 100;
/** How long another daemon may take to answer before its socket counts as left behind. */
const ANSWER_MS = 2000;

/** The socket of the daemon on a state folder, by the shorter of its names; null where both are too long. */
function socketPath(stateFolder: string): string | null {
  const path = join(stateFolder, "daemon.sock");
  const short = [path, relative(process.cwd(), path)].toSorted((a, b) => a.length - b.length)[0] ?? path;
  return Buffer.byteLength(short) > MAX_PATH_LENGTH ? null : short;
}

/** Answers on a socket that only its owner may use; null where the state folder's path is too long for one. */
export async function serveControl(stateFolder: string, control: DaemonControl): Promise<AsyncDisposable | null> {
  const path = socketPath(stateFolder);
  if (path === null) return null;
  // Another process with the same state folder answers there already, and its targets are locked.
  const signal = AbortSignal.timeout(ANSWER_MS);
  if ((await askDaemon(stateFolder, { method: "GET", path: "/status" }, { signal })) !== null) return null;
  const server = createServer(async (asked, response) => {
    const reply = await replyTo(asked, control).catch((error: unknown) => refusal(error));
    if (reply === null) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
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

async function replyTo(asked: IncomingMessage, control: DaemonControl): Promise<DaemonReply | CommandReply | null> {
  const { pathname, searchParams } = new URL(asked.url ?? "", "http://daemon");
  // Only the owner of the state folder reaches the socket, with this very program.
  if (asked.method === "POST" && pathname === "/commands")
    return { is: "done", result: await control.carryOut((await json(asked)) as DaemonCommand) };
  if (asked.method === "POST" && pathname === "/reconcile") await control.reconcile(searchParams.get("target"));
  else if (asked.method !== "GET" || pathname !== "/status") return null;
  return { pid: process.pid, targets: control.status() };
}

function refusal(error: unknown): CommandReply {
  const message = error instanceof Error ? error.message : String(error);
  const { code, hint, diagnostics } =
    error instanceof HoldfastError ? error : ({ code: "error", hint: null, diagnostics: [] } as const);
  return { is: "refused", code, message, hint, diagnostics };
}

type Stop = { readonly signal: AbortSignal };

/** Asks the daemon that runs on a state folder; null where none does. */
export function askDaemon(
  stateFolder: string,
  { method, path }: { readonly method: "GET" | "POST"; readonly path: string },
  stop: Stop,
): Promise<DaemonReply | null> {
  return send<DaemonReply>(stateFolder, { method, path, body: "" }, stop);
}

/** Lets the daemon that runs on a state folder carry out a command, and answers what came of it; null where none runs. */
export async function commandDaemon<Result>(
  stateFolder: string,
  command: DaemonCommand,
  stop: Stop,
): Promise<Result | null> {
  const body = JSON.stringify(command);
  const reply = await send<CommandReply>(stateFolder, { method: "POST", path: "/commands", body }, stop);
  if (reply === null) return null;
  if (reply.is === "done") return reply.result as Result;
  const { code, message, hint, diagnostics } = reply;
  throw new HoldfastError(code, message, { hint, diagnostics });
}

type Asked = { readonly method: "GET" | "POST"; readonly path: string; readonly body: string };

async function send<Reply>(
  stateFolder: string,
  { method, path, body }: Asked,
  { signal }: Stop,
): Promise<Reply | null> {
  const socket = socketPath(stateFolder);
  if (socket === null) return null;
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath: socket, method, path, signal }, (response) => {
      json(response).then((reply) => resolve(reply as Reply), reject);
    });
    asked.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED" || error.code === "ECONNRESET") resolve(null);
      else reject(error);
    });
    asked.end(body);
  });
}
