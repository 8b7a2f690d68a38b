import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from "fastify";
import { IDEMPOTENCY_KEY_ACCEPTED } from "../../contract/headers.ts";
import { isObject, type Json } from "../../contract/json.ts";
import { isDocumented, type Operation, type OperationName, operation, operations } from "../../contract/operations.ts";
import { setCaller } from "../../http/access-log.ts";
import {
  type BodyReservation,
  type ByteBudget,
  type Reservation,
  releaseAfter,
  reserveBody,
} from "../../http/byte-budget.ts";
import { badRequest, HttpError } from "../../http/http-error.ts";
import type { RateLimit } from "../../http/rate-limit.ts";
import { queryText } from "../../http/server.ts";
import { dryRunPrincipal } from "../auth/access.ts";
import { authorisedContext, ChangedPrincipal } from "../auth/authorised-context.ts";
import type { Callers } from "../auth/identify-caller.ts";
import type { Principal } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import { callMarks, isDryRun, refusedCall } from "./audited-call.ts";
import { notImplemented, type OperationRequest, type ServedOperation } from "./define-operation.ts";
import { createGuardedWrite, type OperationReply } from "./writes/guarded-write.ts";
import { readWriteHeaders } from "./writes/write-headers.ts";

// Smaller replies are sent at once.
const LARGE_BYTES = 65_536;

/** What the routes of all operations share. */
export type OperationRouting = {
  readonly context: Context;
  readonly callers: Callers;
  /** Limits the bodies of all requests in flight. */
  readonly bodies: ByteBudget;
  /** Limits the large replies that clients have not read yet. */
  readonly replies: ByteBudget;
  /** Limits requests by caller, and by address for unauthenticated ones; null when there is no limit. */
  readonly rateLimit: RateLimit | null;
  /** The same for requests that keep a right of their caller alive, which do not count otherwise. */
  readonly keepAliveLimit: RateLimit | null;
};

/** Adds a route for every operation of the table; operations without a handler return 501. */
export function addOperationRoutes(
  app: FastifyInstance,
  served: readonly ServedOperation[],
  documentedOnly: boolean,
  routing: OperationRouting,
): void {
  const handlers = new Map(served.map((operation) => [operation.name, operation]));
  const run = createOperationRunner(routing.context, routing.callers);
  const offered = operationNames().filter((name) => !documentedOnly || isDocumented(operation(name)));
  for (const name of offered) addOperationRoute(app, name, handlers.get(name), run, routing);
  const byPath = Map.groupBy(offered.map(operation), ({ path }) => path);
  for (const [path, sharing] of byPath) refuseOtherMethods(app, path, sharing);
}

/** The names of all operations, in the table's order. */
export function operationNames(): readonly OperationName[] {
  return Object.keys(operations).filter((name): name is OperationName => Object.hasOwn(operations, name));
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

/** Adds the route of an operation; without a handler it returns 501. */
function addOperationRoute(
  app: FastifyInstance,
  name: OperationName,
  served: ServedOperation | undefined,
  run: ReturnType<typeof createOperationRunner>,
  { context: { audit }, callers, bodies, replies, rateLimit, keepAliveLimit }: OperationRouting,
): void {
  const { method, path, isKeepAlive } = operation(name);
  const arrived = new WeakMap<
    FastifyRequest,
    { readonly principal: Principal; readonly reservation: BodyReservation | null }
  >();
  app.route({
    method,
    url: fastifyPath(path),
    config: { operation: name },
    // Before the body is read.
    onRequest: async (request, reply) => {
      const reservation = reserveBody(request, reply, bodies);
      const principal = await callers.callerOf(request.raw).catch((error: unknown) => {
        // Unauthenticated requests count against their address, and never against a caller.
        if (error instanceof HttpError && error.status === 401) limitRate(rateLimit, `address ${request.ip}`);
        throw error;
      });
      reservation?.assignTo(principal.name);
      arrived.set(request, { principal, reservation });
      setCaller(request, principal.name);
      limitRate(isKeepAlive === true ? keepAliveLimit : rateLimit, principal.name);
      if (isWrite(name)) reply.header(IDEMPOTENCY_KEY_ACCEPTED, "true");
    },
    onError: async (request, _, error) => {
      const { principal } = arrived.get(request) ?? {};
      const refusal = principal === undefined ? null : refusedCall(name, request, principal, error);
      if (refusal !== null) audit.refusals.add(refusal);
    },
    handler: (request, reply) => {
      const { principal, reservation } = arrived.get(request) ?? {};
      if (principal === undefined) throw new TypeError("the caller was not authenticated");
      const handle = () => answer(principal, request, reply);
      return reservation ? reservation.during(handle) : handle();
    },
  });

  async function answer(principal: Principal, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (served === undefined) throw notImplemented(name);
    const query = queryText(request);
    // The only body parser returns JSON.
    const body = request.body as Json | undefined;
    const call = { principal, path: pathValues(request), query, body };
    const { status, pieces, isReplay } = await run(served, call, request);
    if (isReplay) reply.header("idempotency-replayed", "true");
    reply.code(status).type("application/json; charset=utf-8");
    // The reply to a write is about as large as its body, which is reserved until the reply was sent.
    if (isWrite(name) || !isLarge(pieces)) return reply.send(pieces.join(""));
    return sendInPieces(reply, pieces, (bytes) => replies(principal.name, bytes));
  }
}

/** Refuses (429) a caller who sends more than the limit. */
export function limitRate(rateLimit: RateLimit | null, caller: string): void {
  const wait = rateLimit?.(caller) ?? 0;
  if (wait > 0) throw tooMany(wait);
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

/**
 * Runs operations for authenticated callers, who are authenticated again when the operation takes effect; writes are
 * checked by their idempotency key and their fencing token.
 */
function createOperationRunner(shared: Context, { callerWithin }: Callers) {
  const guardedWrite = createGuardedWrite();
  return async (
    served: ServedOperation,
    request: OperationRequest,
    arrived: FastifyRequest,
  ): Promise<OperationReply> => {
    const { raw } = arrived;
    const context: Context = { ...shared, call: callMarks(arrived, request.principal) };
    if (!isWrite(served.name)) return authorised(request, (own, within) => unguarded(served, own, within));
    const writeHeaders = readWriteHeaders(raw.headers);
    // It has no effect, so it needs no idempotency or fencing. Without a transaction it is authenticated again here.
    if (isDryRun(served.name, request.body)) {
      const principal = dryRunPrincipal(await callerWithin(raw, context));
      return unguarded(served, { ...request, principal }, context);
    }
    const isGuarded = writeHeaders.key !== null || writeHeaders.fence !== null;
    return authorised(request, (own, within) =>
      isGuarded ? guardedWrite(served, own, writeHeaders, within) : unguarded(served, own, within),
    );

    async function authorised(
      own: OperationRequest,
      run: (request: OperationRequest, within: Context) => Promise<OperationReply>,
    ): Promise<OperationReply> {
      try {
        return await run(
          own,
          authorisedContext(context, own.principal, (within) => callerWithin(raw, within)),
        );
      } catch (error) {
        if (!(error instanceof ChangedPrincipal)) throw error;
        return authorised({ ...own, principal: error.principal }, run);
      }
    }
  };
}

async function unguarded(served: ServedOperation, request: OperationRequest, within: Context): Promise<OperationReply> {
  return { status: 200, pieces: await served.run(request, within), isReplay: false };
}

function isWrite(name: OperationName): boolean {
  return operation(name).retry !== "read";
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

/** The path of an operation as Fastify writes it. */
function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function tooMany(seconds: number): HttpError {
  const headers = { "retry-after": String(Math.ceil(seconds)) };
  return new HttpError(429, "rate-limited", "you send more requests than this server allows", { headers });
}

/** A stream of buffers that are already in memory; each is pushed when the previous one has been read. */
function chunkStream(pieces: readonly Buffer[]): Readable {
  const left = pieces.values();
  return new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      this.push(left.next().value ?? null);
    },
  });
}
