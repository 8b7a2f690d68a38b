import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type Connection, type ConnectOptions, connect } from "../../../src/client/connect.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { systemClock, systemRandom } from "../../../src/clock/system.ts";
import { Secret } from "../../../src/contract/secret.ts";

/** What a test's server saw of one request. */
export type Seen = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** Answers the nth request, from 1. */
export type Answerer = (response: ServerResponse, request: Seen, nth: number) => unknown;

/** A real HTTP server on a port of the kernel's choice, closed when the test is over. */
export async function serve(
  answer: Answerer,
): Promise<{ readonly url: string; readonly seen: Seen[]; readonly stop: () => Promise<void> }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://server");
      const { method = "", headers } = request;
      seen.push({
        method,
        path: url.pathname,
        query: url.searchParams,
        headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(response, seen[seen.length - 1] as Seen, seen.length);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, stop };
}

/** A bare TCP server, for replies that no HTTP server would give. */
export async function serveBytes(accept: (socket: net.Socket, nth: number) => void): Promise<{ readonly url: string }> {
  let nth = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    nth += 1;
    accept(socket, nth);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sends a JSON reply. */
export function json(response: ServerResponse, value: unknown, { status = 200, headers = {} } = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

/** A page of the rows given, in the interface's envelope. */
export function page(rows: readonly unknown[], { query }: { readonly query: URLSearchParams }): unknown {
  const offset = Number(query.get("offset") ?? 0);
  const limit = Number(query.get("limit") ?? 100);
  return { data: rows.slice(offset, offset + limit), pagination: { total: rows.length, offset, limit } };
}

/** Time that passes as fast as it is waited for; it remembers every wait. */
export function fakeClock(): Clock & { readonly waits: number[] } {
  let now = 0;
  const waits: number[] = [];
  return {
    ...systemClock,
    waits,
    monotonic: () => now,
    now: () => Date.UTC(2026, 0, 1) + now,
    sleep: async (milliseconds, { signal } = {}) => {
      signal?.throwIfAborted();
      waits.push(milliseconds);
      now += milliseconds;
    },
  };
}

/** A signal that nobody aborts. */
export const calm = { signal: new AbortController().signal };

/** A connection to the server, closed when the test is over. */
export function dial(server: string, options: Partial<ConnectOptions> = {}): Connection {
  const connection = connect({
    server,
    token: () => new Secret("test-token"),
    concurrency: 8,
    requestTimeout: 5_000,
    connectTimeout: 1_000,
    env: {},
    userAgent: "holdfast/test",
    signal: new AbortController().signal,
    clock: fakeClock(),
    random: { ...systemRandom, next: () => 0.5 },
    ...options,
  });
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return connection;
}
