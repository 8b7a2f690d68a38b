import { Readable } from "node:stream";
import { createMcpHandler, type McpServerFactory } from "@modelcontextprotocol/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Secret } from "../../contract/secret.ts";
import { areEqualSecrets } from "../../daemon/http/equal-secrets.ts";
import { listenAt } from "../../daemon/http/listen-at.ts";
import { HttpError, tooManyRequests } from "../../http/http-error.ts";
import { isOwnHost } from "../../http/loopback.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import { createHttpServer } from "../../http/server.ts";
import type { Log } from "../../log/log.ts";
import type { Terminal } from "../terminal.ts";
import { MOST_BYTES_OF_MESSAGE } from "./message-lines.ts";

/** Wrong tokens that are looked at in a second. */
const MOST_REFUSED = 10;
const PATH = "/mcp";

/** The tools over HTTP; disposal closes them. */
type HttpTools = AsyncDisposable & { readonly url: string };

/** Serves tools over HTTP to those who send the token. */
export async function serveHttp(
  servers: McpServerFactory,
  {
    host,
    port,
    hosts,
    token,
    log,
    terminal,
  }: {
    readonly host: string;
    readonly port: number;
    /** The names of this host beside those of loopback. */
    readonly hosts: readonly string[];
    readonly token: () => Secret | null;
    readonly log: Log;
    readonly terminal: Terminal;
  },
): Promise<HttpTools> {
  const { clock, random, stopping, signal } = terminal;
  const app = createHttpServer({
    ...{ clock, random, log, bodyLimit: MOST_BYTES_OF_MESSAGE, draining: stopping, ending: signal },
    readiness: async () => ({ is: "ready" }),
    explain: () => null,
  });
  const handler = createMcpHandler(servers, {
    responseMode: "sse",
    onerror: (error) => log.warn({ event: "mcp-failed", err: error }, "a message of a client failed"),
  });
  const refused = createRateLimit(MOST_REFUSED, clock.now);
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: PATH,
    // Before the body is read.
    onRequest: async (request) => {
      requireOwnSite(request, hosts);
      requireToken(request, token(), refused);
    },
    handler: async (request, reply) =>
      answer(await handler.fetch(toRequest(request, reply), { parsedBody: request.body }), reply),
  });
  const url = await listenAt(app, host, port);
  return {
    url: `${url}${PATH}`,
    [Symbol.asyncDispose]: async () => {
      await handler.close();
      await app.close();
    },
  };
}

/**
 * Refuses a request of a page of another site, and one that addresses this host by another name than its own: a page could
 * have made its site's name stand for this machine.
 */
function requireOwnSite({ hostname, headers: { origin } }: FastifyRequest, hosts: readonly string[]): void {
  if (!isOwnHost(hostname, hosts)) {
    const hint = "the operator key dashboard.hosts names its own";
    throw new HttpError(403, "misdirected", `this server does not answer to that host name: ${hint}`);
  }
  if (origin !== undefined && !isOwnHost(URL.parse(origin)?.hostname ?? "", hosts))
    throw new HttpError(403, "cross-site", "a page of another site may not call the tools");
}

function requireToken({ headers }: FastifyRequest, token: Secret | null, refused: (caller: string) => number): void {
  const [, given = ""] = /^bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token !== null && areEqualSecrets(given, token.open())) return;
  const wait = refused("refused");
  if (wait > 0) throw tooManyRequests(wait, "too many requests without the token");
  throw new HttpError(401, "unauthenticated", "the tools need the token of holdfast mcp, as a bearer token", {
    headers: { "www-authenticate": "Bearer" },
  });
}

// The token goes no further.
function toRequest({ method, headers, raw }: FastifyRequest, reply: FastifyReply): Request {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    name === "authorization" || value === undefined ? [] : [[name, [value].flat().join(", ")] as [string, string]],
  );
  const left = new AbortController();
  reply.raw.once("close", () => left.abort());
  return new Request(`http://localhost${raw.url ?? PATH}`, { method, headers: kept, signal: left.signal });
}

function answer(response: Response, reply: FastifyReply): FastifyReply {
  reply.code(response.status);
  for (const [name, value] of response.headers) reply.header(name, value);
  return reply.send(response.body === null ? "" : Readable.fromWeb(response.body));
}
