import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import { parseJsonBody } from "./json-body.ts";
import { parseQueryText } from "./query-text.ts";
import { errorBody, Refusal } from "./refusal.ts";
import { refusalOf } from "./refusal-of.ts";

const MIB = 1024 * 1024;
const CLOSING_MS = 10_000;

/** What a server is made from. */
export type HttpOptions = {
  readonly log: FastifyBaseLogger;
  /** Whether requests can be served now; asked by `/readyz`. */
  readonly ready: () => Promise<boolean>;
  /** The refusal that answers an error of another room; null when it is none of its business. */
  readonly explain: (error: unknown) => Refusal | null;
  /** @default 8 MiB */
  readonly bodyLimit?: number;
};

/**
 * The HTTP server that every part of ours which listens is built on: limits, time-outs, health routes, request ids,
 * and one form of error.
 */
export function createHttpServer({ log, ready, explain, bodyLimit = 8 * MIB }: HttpOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionTimeout: 0,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    http: { maxHeaderSize: 16_384, headersTimeout: 10_000, connectionsCheckingInterval: 2000 },
    routerOptions: { querystringParser: () => ({}), maxParamLength: 512 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => refuse(refusalOf(error), error, request, reply),
  });
  acceptJsonOnly(app);
  app.setErrorHandler((error, request, reply) => refuse(explain(error) ?? refusalOf(error), error, request, reply));
  app.setNotFoundHandler((request, reply) => {
    const refusal = new Refusal(404, "route-not-found", "there is no such route");
    return refuse(refusal, refusal, request, reply);
  });
  app.addHook("onSend", async (request, reply) => {
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    reply.header("cache-control", "no-store");
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    request.log.debug({ method, route: routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime }, "answered");
  });
  addHealthRoutes(app, ready);
  endWithin(app, CLOSING_MS);
  return app;
}

/** Starts listening; resolves with the address as a URL. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no address");
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

/** The query as it was sent. */
export function queryText(request: FastifyRequest): ReturnType<typeof parseQueryText> {
  const url = request.raw.url ?? "";
  const at = url.indexOf("?");
  return parseQueryText(at === -1 ? "" : url.slice(at + 1));
}

function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (_: FastifyRequest, body: Buffer) =>
    parseJsonBody(body),
  );
  app.addHook("onRequest", async ({ raw: { method, headers } }) => {
    if (method !== "GET" && method !== "HEAD") return;
    if (headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0) return;
    throw new Refusal(400, "bad-request", "a GET request has no body");
  });
}

function addHealthRoutes(app: FastifyInstance, ready: () => Promise<boolean>): void {
  app.get("/healthz", { exposeHeadRoute: true }, async () => ({ status: "ok" }));
  app.get("/readyz", { exposeHeadRoute: true }, async (_, reply) => {
    const isReady = await ready().catch(() => false);
    reply.code(isReady ? 200 : 503);
    return { status: isReady ? "ready" : "not ready" };
  });
}

// Closing waits for requests under way, but not for a client that never ends its own.
function endWithin(app: FastifyInstance, milliseconds: number): void {
  app.addHook("preClose", async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), milliseconds).unref();
    app.server.once("close", () => clearTimeout(timer));
  });
}

function refuse(refusal: Refusal, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (refusal.status >= 500 && !(error instanceof Refusal)) request.log.error({ err: error }, "request failed");
  return reply.code(refusal.status).headers(refusal.headers).type("application/json").send(errorBody(refusal));
}

const brokenRequests: { readonly [code: string]: readonly [number, string] } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout"],
};

// Node found no request in these bytes, so that there is no reply object to answer with.
function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const [statusCode, text] = brokenRequests[error.code ?? ""] ?? [400, "Bad Request"];
  const body = JSON.stringify({ statusCode, message: text, code: "bad-request" });
  const head = [
    `HTTP/1.1 ${statusCode} ${text}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
