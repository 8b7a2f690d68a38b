import { chmodSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join, relative } from "node:path";
import { json } from "node:stream/consumers";
import type { Stop } from "../clock/clock.ts";
import { errorMessage } from "../contract/error-message.ts";
import { type FailureText, HoldfastError } from "../core/errors.ts";
import type { Hold } from "../core/holds.ts";
import type { TargetStatus } from "../core/report/target-status.ts";
import { createFile } from "../files/write-file.ts";
import { makeFolder } from "../store/make-folder.ts";

/** The status reply of a running daemon on its control socket. */
export type DaemonReply = { readonly pid: number; readonly targets: readonly TargetStatus[] };

/** The operations that a daemon offers on its control socket. */
export type DaemonControl = {
  readonly status: () => Promise<readonly TargetStatus[]>;
  /** Runs a pass over the named target, or over all targets if null; resolves when it has ended. */
  readonly reconcile: (target: string | null) => Promise<void>;
  /** Runs a command between two passes; its result can be serialized as JSON. */
  readonly carryOut: (command: DaemonCommand) => Promise<unknown>;
};

/** What a daemon does on request with a target. */
export type TargetCommand = {
  /** The person who asks for it on the dashboard; absent for a command. */
  readonly by?: string;
} & (
  | { readonly is: "reconcile" }
  | { readonly is: "adopt"; readonly identities: readonly string[] | null }
  | { readonly is: "forget"; readonly identities: readonly string[] }
  | {
      readonly is: "redeploy";
      readonly identities: readonly string[];
      readonly force: boolean;
      readonly isForced: boolean;
      /** @default none */
      readonly allowedPolicies?: readonly string[];
    }
  | { readonly is: "resolve"; readonly identities: readonly string[]; readonly as: "applied" | "refused" | null }
  | { readonly is: "hold"; readonly hold: Hold }
  | { readonly is: "release"; readonly what: string }
);

/** A command on the state of one target; it goes to the daemon, because the daemon holds the lock on that state. */
export type DaemonCommand = { readonly target: string } & TargetCommand;

/** The reply to a command: its result, or the error that refused it. */
type CommandReply = { readonly is: "done"; readonly result: unknown } | Refusal;

type Refusal = { readonly is: "refused" } & FailureText;

/** Kernels limit the path of a socket: 108 bytes on Linux, 104 on macOS. */
const MAX_PATH_LENGTH = 100;
/** What a socket answers that no process serves any more. */
const UNSERVED: readonly (string | undefined)[] = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EPIPE"];

/** The socket path for a state folder, absolute or relative, whichever is shorter; null if both are too long. */
function socketPath(stateFolder: string): string | null {
  const path = join(stateFolder, "daemon.sock");
  const short = [path, relative(process.cwd(), path)].toSorted((a, b) => a.length - b.length)[0] ?? path;
  return Buffer.byteLength(short) > MAX_PATH_LENGTH ? null : short;
}

/**
 * Serves a control socket that only its owner can open; null if the path of the state folder is too long for a socket, or if
 * another daemon already serves it.
 */
export async function serveControl(stateFolder: string, control: DaemonControl): Promise<AsyncDisposable | null> {
  const path = socketPath(stateFolder);
  // Another process may serve this state folder and hold the locks of its targets.
  if (path === null || (await isServed(path))) return null;
  const server = createServer(async (incoming, response) => {
    const reply = await replyTo(incoming, control).catch((error: unknown) => refusal(error));
    if (reply === null) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  await makeFolder(stateFolder);
  // The state folder may lie in a git checkout.
  createFile(join(stateFolder, ".gitignore"), "*\n");
  // A daemon that was killed leaves its socket file behind.
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

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (UNSERVED.includes(error.code)) resolve(false);
      else reject(error);
    });
  });
}

async function replyTo(incoming: IncomingMessage, control: DaemonControl): Promise<DaemonReply | CommandReply | null> {
  const { method, url } = incoming;
  const { pathname, searchParams } = new URL(url ?? "", "http://daemon");
  // The body is not validated: only the owner of the state folder can open the socket, and the client is this same program.
  if (method === "POST" && pathname === "/commands")
    return { is: "done", result: await control.carryOut((await json(incoming)) as DaemonCommand) };
  if (method === "POST" && pathname === "/reconcile") await control.reconcile(searchParams.get("target"));
  else if (method !== "GET" || pathname !== "/status") return null;
  return { pid: process.pid, targets: await control.status() };
}

function refusal(error: unknown): Refusal {
  const message = errorMessage(error);
  const { code, hint, diagnostics } =
    error instanceof HoldfastError ? error : ({ code: "error", hint: null, diagnostics: [] } as const);
  return { is: "refused", code, message, hint, diagnostics };
}

function refusedWith({ code, message, hint, diagnostics }: Refusal): HoldfastError {
  return new HoldfastError(code, message, { hint, diagnostics });
}

/** Sends a request to the daemon that runs on a state folder and returns its status; null if none runs. */
export async function askDaemon(
  stateFolder: string,
  { method, path }: { readonly method: "GET" | "POST"; readonly path: string },
  stop: Stop,
): Promise<DaemonReply | null> {
  const reply = await send<DaemonReply | Refusal>(stateFolder, { method, path, body: "" }, stop);
  if (reply !== null && "is" in reply) throw refusedWith(reply);
  return reply;
}

/** Sends a command to the daemon that runs on a state folder and returns the result; null if none runs. */
export async function commandDaemon<Result>(
  stateFolder: string,
  command: DaemonCommand,
  stop: Stop,
): Promise<Result | null> {
  const body = JSON.stringify(command);
  const reply = await send<CommandReply>(stateFolder, { method: "POST", path: "/commands", body }, stop);
  if (reply === null) return null;
  if (reply.is === "done") return reply.result as Result;
  throw refusedWith(reply);
}

type DaemonRequest = { readonly method: "GET" | "POST"; readonly path: string; readonly body: string };

async function send<Reply>(
  stateFolder: string,
  { method, path, body }: DaemonRequest,
  { signal }: Stop,
): Promise<Reply | null> {
  const socket = socketPath(stateFolder);
  if (socket === null) return null;
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: socket, method, path, signal }, (response) => {
      json(response).then((reply) => resolve(reply as Reply), reject);
    });
    outgoing.once("error", (error: NodeJS.ErrnoException) => {
      if (UNSERVED.includes(error.code)) resolve(null);
      else reject(error);
    });
    outgoing.end(body);
  });
}
