import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import { runWarning } from "../core/run-warning.ts";
import { isLoopback } from "../http/loopback.ts";
import { type InvocationOf, refuseUnfit } from "./command.ts";
import { readOperatorFile } from "./configuration/read-operator-file.ts";
import { secretIn } from "./configuration/secret-file.ts";
import type { mcp } from "./declarations/mcp.ts";
import { listenAddress } from "./flags/listen-address.ts";
import type { MakeProgram } from "./mcp/run-tool.ts";
import { logStopRequest, sayStopped } from "./output/lifecycle.ts";
import { terminalLog } from "./output/terminal-log.ts";
import { readSnapshotFile } from "./snapshots/snapshot-file.ts";
import { markAnswered, say, stoppedBy, writeResult } from "./terminal.ts";

type McpInvocation = InvocationOf<typeof mcp>;

/** Serves tools that read and propose, on stdin and stdout or over HTTP, until it is stopped or the client leaves. */
export async function serveTools(invocation: McpInvocation, program: MakeProgram): Promise<number> {
  const { flags, terminal } = invocation;
  const { cwd, random } = terminal;
  const at = (path: string | undefined) => (path === undefined ? null : resolve(cwd, path));
  const [plans, snapshot] = [at(flags.plans), at(flags.snapshot)];
  // What is wrong with it is told here, and not at the first simulation.
  if (snapshot !== null) readSnapshotFile(snapshot);
  if (plans !== null) mkdirSync(plans, { recursive: true, mode: 0o700 });
  const { toolServers } = await import("./mcp/create-tool-server.ts");
  const servers = toolServers(invocation, { plans, snapshot, random }, program);
  if (flags.listen !== undefined) return overHttp(invocation, servers);
  refuseUnfit(invocation, ["mcpTokenFile"], "it is for --listen: over stdin and stdout there is no token");
  return overStdio(invocation, servers);
}

type Servers = Parameters<typeof import("./mcp/serve-http.ts")["serveHttp"]>[0];

async function overStdio({ terminal }: McpInvocation, servers: Servers): Promise<number> {
  const { stdin, stdout, stopping } = terminal;
  if (stdin.isTTY === true) say(terminal, "this is for a client that starts it; use --listen to serve over HTTP");
  // Nothing but messages of the protocol is written there, a failure neither.
  markAnswered(terminal);
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { messageLines } = await import("./mcp/message-lines.ts");
  const lines = messageLines(stdin, stdout);
  const left = Promise.race([once(lines, "end"), once(lines, "close"), stopped(stopping)]);
  const served = serveStdio(servers, { transport: new StdioServerTransport(lines, stdout) });
  await left.catch(() => undefined);
  await served.close();
  return stopping.aborted ? endStopped(terminal, null) : 0;
}

async function overHttp(invocation: McpInvocation, servers: Servers): Promise<number> {
  const { flags, terminal } = invocation;
  const { host, port } = listenAddress(flags.listen ?? "");
  const token = tokenReader(invocation);
  const { config } = await readOperatorFile(invocation);
  const hosts = [host, ...(config?.operator.dashboard?.hosts ?? [])];
  if (!isLoopback(host)) {
    const text = `tokens travel in clear to ${host}; put a proxy with TLS before it, or listen on loopback`;
    terminal.warnings.addEarly(runWarning("clear-text", text));
  }
  const log = terminalLog(invocation);
  const { serveHttp } = await import("./mcp/serve-http.ts");
  await using served = await serveHttp(servers, { host, port, hosts, token, log, terminal });
  logStopRequest(terminal, log);
  await writeResult(terminal, `tools on ${served.url}\n`);
  await stopped(terminal.stopping);
  return endStopped(terminal, log);
}

/** Fewer characters can be guessed. */
const LEAST_CHARACTERS = 16;

/** Reads the token; null where there is none that is long enough, so that whoever removes it has ended its use. */
function tokenReader({ flags, terminal: { env, cwd } }: McpInvocation): () => Secret | null {
  const file = flags.mcpTokenFile;
  const given = new Secret((env.HOLDFAST_MCP_TOKEN ?? "").trim());
  const read = file === undefined ? () => given : () => secretIn(resolve(cwd, file));
  const length = read()?.open().length ?? 0;
  if (length >= LEAST_CHARACTERS) {
    return () => {
      const now = read();
      return now !== null && now.open().length >= LEAST_CHARACTERS ? now : null;
    };
  }
  const hint = `give one of at least ${LEAST_CHARACTERS} characters with --mcp-token-file FILE or HOLDFAST_MCP_TOKEN`;
  const why = length === 0 ? "over HTTP the tools need a token, and there is none" : "the token for the tools is short";
  throw new HoldfastError("invalid", why, { hint });
}

async function stopped(stopping: AbortSignal): Promise<void> {
  await new Promise<void>((done) => {
    if (stopping.aborted) done();
    stopping.addEventListener("abort", () => done(), { once: true });
  });
}

function endStopped(terminal: McpInvocation["terminal"], log: ReturnType<typeof terminalLog> | null): number {
  const reason = stoppedBy(terminal);
  if (reason?.code !== "terminated") throw reason;
  sayStopped(terminal, log);
  return 0;
}
