import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import { NOT_STORED } from "../contract/headers.ts";
import { BODY_CAP } from "../contract/limits.ts";
import { logRequests, setErrorCode, traceRequests } from "./access-log.ts";
import { bodyLength } from "./byte-budget.ts";
import { addHealthRoutes, type Readiness } from "./health.ts";
import { badRequest, bodyTooLarge, errorBody, HttpError, toHttpError } from "./http-error.ts";
import { parseJsonBody } from "./json-body.ts";
import { addMetrics, type MetricsOptions } from "./metrics.ts";
import { parseQueryText } from "./parse-query.ts";

const CLOSING_MS = 10_000;
const REQUEST_MS = 30_000;

/** How long a client may take, in milliseconds. */
export type ServerTimeouts = {
  /** From the start of the connection, or the previous reply, to the last header. @default 10_000 */
  readonly headers: number;
  /** To the last byte of the body. @default 30_000 */
  readonly request: number;
  /** Without a byte in either direction, also when the client does not read its reply. @default 120_000 */
  readonly silence: number;
  /** Between requests on one connection. @default 65_000 */
  readonly idle: number;
};

/** The options of a server. */
export type HttpOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** What `/readyz` says. */
  readonly readiness: () => Promise<Readiness>;
  readonly log: FastifyBaseLogger;
  /** At which level replies are logged. @default "debug" */
  readonly requestLevel?: "info" | "debug";
  /** Translates an error of the application into an HTTP error; null when it does not know the error. */
  readonly explain: (error: unknown) => HttpError | null;
  /** @default 8 MiB */
  readonly bodyLimit?: number;
  /** The values of the `operation` label of metrics. @default none */
  readonly operations?: readonly string[];
  readonly metrics?: MetricsOptions;
  /** Certificate and key; plain HTTP without them. */
  readonly tls?: SecureContextOptions;
  readonly timeouts?: Partial<ServerTimeouts>;
  /** Whether there are routes that take files, to which the time for a whole request does not apply. @default false */
  readonly takesFiles?: boolean;
  /** Aborted when the server is about to close: `/readyz` fails, and connections close after their next reply. */
  readonly draining?: AbortSignal;
  /** Aborted when closing must not wait any longer: connections are closed at once. */
  readonly ending?: AbortSignal;
};

const brokenRequests: { readonly [code: string]: readonly [status: number, text: string, code: string] } = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "headers-too-large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "request-timeout"],
};

/**
 * The base of every HTTP server of this program: limits, timeouts, health, metrics, request ids, an access log and one
 * form of errors.
 */
export function createHttpServer(options: HttpOptions): FastifyInstance {
  const { clock, log, readiness, explain, operations = [], draining, ending } = options;
  const app = createApp(options, log);
  addMetrics(app, operations, clock, options.metrics);
  logRequests(app, log, options.requestLevel ?? "debug");
  traceRequests(app);
  if (options.takesFiles === true) limitRequestTimes(app, clock, options.timeouts?.request ?? REQUEST_MS);
  acceptJsonOnly(app, options.bodyLimit ?? BODY_CAP);
  app.setErrorHandler((error, request, reply) => {
    const explained = explain(error);
    // What the application explains is an expected condition, which it logs itself: once, not for each request.
    if (explained !== null && explained.status >= 500) {
      log.debug({ event: "request-failed", reqId: request.id, err: error }, "request failed");
    }
    return refuse(explained ?? toHttpError(error), explained ?? error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    const refusal = noRoute();
    return refuse(refusal, refusal, request, reply);
  });
  let isClosing = false;
  const isEnding = () => isClosing || draining?.aborted === true;
  app.addHook("preClose", async () => {
    isClosing = true;
  });
  app.addHook("onSend", (request, reply, _, done) => {
    reply.header("x-request-id", request.id);
    reply.header("x-content-type-options", "nosniff");
    reply.headers(NOT_STORED);
    if (isEnding()) reply.header("connection", "close");
    done();
  });
  addHealthRoutes(app, async () => (isEnding() ? { is: "not-ready", reason: "ending" } : readiness()));
  endWithin(app, clock, ending);
  return app;
}

function createApp(
  { bodyLimit = BODY_CAP, timeouts = {}, takesFiles = false, tls, random }: HttpOptions,
  log: FastifyBaseLogger,
): FastifyInstance {
  const { headers = 10_000, request = REQUEST_MS, silence = 120_000, idle = 65_000 } = timeouts;
  const http = {
    maxHeaderSize: 16_384,
    headersTimeout: headers,
    connectionsCheckingInterval: Math.min(2000, headers, request),
  };
  const common = {
    // The framework says at level info that it listens.
    loggerInstance: log.child({}, { level: "warn" }),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    requestTimeout: takesFiles ? 0 : request,
    keepAliveTimeout: idle,
    connectionTimeout: silence,
    forceCloseConnections: "idle" as const,
    // Requests that have arrived are answered.
    return503OnClosing: false,
    exposeHeadRoutes: false,
    requestIdHeader: false as const,
    genReqId: ({ headers: given }: IncomingMessage) => requestId(given["x-request-id"], random),
    routerOptions: { querystringParser: () => ({}), maxParamLength: 512 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      refuse(toHttpError(error), error, request, reply),
  };
  if (tls === undefined) return fastify({ ...common, http });
  return fastify({ ...common, https: { ...http, ...tls, handshakeTimeout: headers } });
}

// A client's own id is used, so that one request can be followed through the logs of all systems.
function requestId(given: string | readonly string[] | undefined, random: Random): string {
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : random.id();
}

/** Starts listening; resolves with the address as a URL. */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  await app.listen({ host, port });
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no address");
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;
  const scheme = "setSecureContext" in app.server ? "https" : "http";
  return `${scheme}://${name}:${address.port}`;
}

/** The parsed query of a request. */
export function queryText(request: FastifyRequest): ReturnType<typeof parseQueryText> {
  const url = request.raw.url ?? "";
  const at = url.indexOf("?");
  return parseQueryText(at === -1 ? "" : url.slice(at + 1));
}

function acceptJsonOnly(app: FastifyInstance, bodyLimit: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (_: FastifyRequest, body: Buffer) =>
    parseJsonBody(body),
  );
  app.addHook("onRequest", ({ raw: { method, headers }, is404, routeOptions }, _, done) => {
    if (routeOptions.config.takesFile === true) return done();
    const length = bodyLength(headers, bodyLimit);
    if (length === 0) {
      // Some clients name a type with every POST, also of a body that they do not send.
      if (!headers["content-type"]?.startsWith("application/json")) delete headers["content-type"];
      return done();
    }
    // Refused here, a body is neither stored nor parsed, and the rest of it is ignored. Refused by the parser, the
    // connection is reset, and the client may never see the reply.
    if (is404) return done(noRoute());
    if (method === "GET" || method === "HEAD") return done(badRequest("a GET request has no body"));
    done(length > bodyLimit ? bodyTooLarge() : undefined);
  });
}

/** The time limit of whole requests, which Node has for all of a server or for none, where some may take longer. */
function limitRequestTimes(app: FastifyInstance, clock: Clock, milliseconds: number): void {
  app.addHook("onRequest", ({ raw, routeOptions }, reply, done) => {
    done();
    if (raw.complete || bodyLength(raw.headers, 1) === 0 || routeOptions.config.takesFile === true) return;
    const late = () => {
      if (raw.complete) return;
      // What is refused before it has arrived was answered already, and its rest is ignored until now.
      if (reply.raw.headersSent) raw.socket.destroy();
      else answerBrokenRequest(new RequestTimeout(), raw.socket);
    };
    const timer = clock.after(milliseconds, late, { ref: false });
    reply.raw.once("close", () => {
      if (raw.complete || raw.destroyed) timer[Symbol.dispose]();
    });
  });
}

class RequestTimeout extends Error {
  override readonly name = "RequestTimeout";
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}

function noRoute(): HttpError {
  return new HttpError(404, "route-not-found", "there is no such route");
}

// Closing waits for requests in flight, up to a time limit.
function endWithin(app: FastifyInstance, clock: Clock, ending: AbortSignal | undefined): void {
  const cut = () => app.server.closeAllConnections();
  app.addHook("preClose", async () => {
    const timer = clock.after(CLOSING_MS, cut, { ref: false });
    app.server.once("close", () => timer[Symbol.dispose]());
    if (ending?.aborted === true) cut();
    ending?.addEventListener("abort", cut, { once: true });
  });
}

function refuse(refusal: HttpError, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (refusal.status >= 500 && !(error instanceof HttpError))
    request.log.error({ event: "request-failed", err: error }, "request failed");
  setErrorCode(request, refusal.code);
  return reply.code(refusal.status).headers(refusal.headers).type("application/json").send(errorBody(refusal));
}

/** Answers bytes that Node could not parse as a request. It writes to the socket, since no reply object exists. */
function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const [statusCode, message, code] = brokenRequests[error.code ?? ""] ?? [400, "Bad Request", "bad-request"];
  const body = JSON.stringify({ statusCode, message, code });
  const head = [
    `HTTP/1.1 ${statusCode} ${message}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
