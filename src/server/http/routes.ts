import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { isObject, type Json } from "../../contract/json.ts";
import { isDocumented, type Operation, type OperationName, operation, operations } from "../../contract/operations.ts";
import { setCaller } from "../../http/access-log.ts";
import { type BodyReservation, reserveBody } from "../../http/body-reservation.ts";
import { type ByteBudget, type Reservation, releaseAfter } from "../../http/byte-budget.ts";
import { chunkStream } from "../../http/chunk-stream.ts";
import { badRequest, HttpError } from "../../http/http-error.ts";
import type { RateLimit } from "../../http/rate-limit.ts";
import { queryText } from "../../http/server.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { callerReplyHeader } from "../auth/caller-reply-header.ts";
import type { Principal } from "../auth/principal.ts";
import { createPrincipalCache } from "../auth/principal-cache.ts";
import { createTokenReader } from "../auth/request-token.ts";
import type { Context } from "../context.ts";
import type { OperationRequest, ServedOperation } from "./define-operation.ts";
import { createIdempotentWrite, type OperationReply } from "./writes/idempotent-write.ts";
import { readWriteHeaders } from "./writes/write-headers.ts";

// Smaller replies are sent at once.
const LARGE_BYTES = 65_536;

/** What the routes need. */
export type RouteOptions = {
  readonly context: Context;
  readonly authenticators: readonly Authenticator[];
  readonly served: readonly ServedOperation[];
  /** Whether the extensions are left out. */
  readonly documentedOnly: boolean;
  /** Limits the bodies of all requests in flight. */
  readonly bodies: ByteBudget;
  /** Limits the large replies that clients have not read yet. */
  readonly replies: ByteBudget;
  /** Limits requests by caller, and by address for unauthenticated ones; null when there is no limit. */
  readonly rateLimit: RateLimit | null;
};

/** Adds a route for every operation of the table; operations without a handler answer 501. */
export function addOperationRoutes(app: FastifyInstance, routing: RouteOptions): void {
  const handlers = new Map(routing.served.map((served) => [served.name, served]));
  const findPrincipal = createPrincipalCache(routing.context, routing.authenticators);
  const readToken = createTokenReader();
  const authenticate = async (request: IncomingMessage) => findPrincipal(readToken(request));
  const runOperation = createOperationRunner(routing.context);
  const offered = operationNames().filter((name) => !routing.documentedOnly || isDocumented(operation(name)));
  for (const name of offered) addOperation(app, name, handlers.get(name), { ...routing, authenticate, runOperation });
  const byPath = Map.groupBy(offered.map(operation), ({ path }) => path);
  for (const [path, sharing] of byPath) refuseOtherMethods(app, path, sharing);
}

/** The names of all operations, in the table's order. */
export function operationNames(): readonly OperationName[] {
  return Object.keys(operations).filter((name): name is OperationName => Object.hasOwn(operations, name));
}

/** Runs an operation for an authenticated caller. */
type RunOperation = (
  served: ServedOperation,
  request: OperationRequest,
  headers: IncomingHttpHeaders,
) => Promise<OperationReply>;

type OperationRouting = Pick<RouteOptions, "documentedOnly" | "rateLimit" | "bodies" | "replies"> & {
  readonly authenticate: (request: IncomingMessage) => Promise<Principal>;
  readonly runOperation: RunOperation;
};

function addOperation(
  app: FastifyInstance,
  name: OperationName,
  served: ServedOperation | undefined,
  { authenticate, runOperation, documentedOnly, rateLimit, bodies, replies }: OperationRouting,
): void {
  const { method, path, number, reply: replyForm } = operation(name);
  const showsCaller = replyForm === "list" && !documentedOnly;
  const principals = new WeakMap<FastifyRequest, Principal>();
  const bodyReservations = new WeakMap<FastifyRequest, BodyReservation>();
  const limit = (caller: string) => {
    const wait = rateLimit?.(caller) ?? 0;
    if (wait > 0) throw tooMany(wait);
  };
  const authenticateOrLimit = async (request: FastifyRequest) => {
    try {
      return await authenticate(request.raw);
    } catch (error) {
      // Unauthenticated requests count against their address, and never against a caller.
      if (error instanceof HttpError && error.status === 401) limit(`address ${request.ip}`);
      throw error;
    }
  };
  app.route({
    method,
    url: fastifyPath(path),
    config: { operation: name },
    // Before the body is read.
    onRequest: async (request, reply) => {
      const reservation = reserveBody(request, reply, bodies);
      if (reservation !== null) bodyReservations.set(request, reservation);
      const principal = await authenticateOrLimit(request);
      reservation?.assignTo(principal.name);
      principals.set(request, principal);
      setCaller(request, principal.name);
      limit(principal.name);
      if (isWrite(name)) reply.header("idempotency-key-accepted", "true");
      if (showsCaller) reply.header("x-caller", callerReplyHeader(principal));
    },
    handler: (request, reply) => {
      const reservation = bodyReservations.get(request);
      return reservation === undefined ? handle(request, reply) : reservation.during(() => handle(request, reply));
    },
  });

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const principal = principals.get(request);
    if (served === undefined || principal === undefined) throw notImplemented(number);
    const query = queryText(request);
    // The only body parser returns JSON.
    const body = request.body as Json | undefined;
    const operationRequest = { principal, path: pathValues(request), query, body };
    const { status, pieces, isReplay } = await runOperation(served, operationRequest, request.headers);
    if (isReplay) reply.header("idempotency-replayed", "true");
    reply.code(status).type("application/json; charset=utf-8");
    // The reply to a write is about as large as its body, which is reserved until the reply was sent.
    if (isWrite(name) || !isLarge(pieces)) return reply.send(pieces.join(""));
    return sendInPieces(reply, pieces, (bytes) => replies(principal.name, bytes));
  }
}

function isLarge([first = "", ...more]: readonly string[]): boolean {
  return more.length > 0 || first.length > LARGE_BYTES;
}

function sendInPieces(
  reply: FastifyReply,
  pieces: readonly string[],
  reserve: (bytes: number) => Reservation,
): FastifyReply {
  // Buffers are outside of V8's heap: strings that wait for a slow client would move to its old generation.
  const chunks = pieces.map((piece) => Buffer.from(piece));
  const size = chunks.reduce((length, { byteLength }) => length + byteLength, 0);
  releaseAfter(reply, reserve(size));
  return reply.header("content-length", size).send(chunkStream(chunks));
}

function createOperationRunner(context: Context): RunOperation {
  const writeOnce = createIdempotentWrite(context);
  return async (served, request, headers) => {
    if (isWrite(served.name)) {
      const writeHeaders = readWriteHeaders(headers);
      // A dry run has no effect, so it needs no idempotency or fencing.
      const isDryRun = isObject(request.body) && request.body.dryRun === true;
      if (!isDryRun && (writeHeaders.key !== null || writeHeaders.fence !== null))
        return writeOnce(served, request, writeHeaders);
    }
    return { status: 200, pieces: await served.run(request, context), isReplay: false };
  };
}

function isWrite(name: OperationName): boolean {
  return operation(name).retry !== "read";
}

function refuseOtherMethods(app: FastifyInstance, path: string, sharing: readonly Operation[]): void {
  const allowed = sharing.map(({ method }) => method);
  const others: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  app.route({
    method: others.filter((method) => !allowed.some((served) => served === method)),
    url: fastifyPath(path),
    onRequest: async () => {
      const headers = { allow: allowed.join(", ") };
      throw new HttpError(405, "method-not-allowed", "this path does not take this method", { headers });
    },
    handler: async () => undefined,
  });
}

function pathValues({ params }: FastifyRequest): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(isObject(params) ? params : {})) {
    if (typeof value !== "string" || value === "" || value.includes("\0"))
      throw badRequest(`the path's ${name} is not a name`);
    values[name] = value;
  }
  return values;
}

function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function tooMany(seconds: number): HttpError {
  const headers = { "retry-after": String(Math.ceil(seconds)) };
  return new HttpError(429, "rate-limited", "you ask more often than this server allows", { headers });
}

function notImplemented(number: string): HttpError {
  return new HttpError(501, "not-implemented", `operation ${number} is not implemented`);
}
