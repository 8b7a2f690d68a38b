// src/http: the HTTP server that the daemon and the control plane share. See docs/control-plane.md#limits.

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import { currentTracer, type Span } from "../contract/trace.ts";

const callerNames = new WeakMap<FastifyRequest, string>();

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route serves, as named in logs and metrics. */
    readonly operation?: string;
    /** Whether its replies last for as long as their readers want, so that their times say nothing. */
    readonly isStream?: true;
    /** Whether its body is a file, of any type and size, for which its sender takes any time. */
    readonly takesFile?: boolean;
  }
}

/** The label of requests that do not belong to an operation. */
export const OTHER_OPERATION = "other";

const errorCodes = new WeakMap<FastifyRequest, string>();

/** Sets the code of the error that a request is answered with, for the log. */
export function setErrorCode(request: FastifyRequest, code: string): void {
  errorCodes.set(request, code);
}

/** Sets the caller of a request, for the log. */
export function setCaller(request: FastifyRequest, name: string): void {
  callerNames.set(request, name);
}

/** Whether a route is asked again and again to see that the server works. */
const isProbe = (route: string | undefined): boolean =>
  route === "/healthz" || route === "/readyz" || route === "/metrics";

/**
 * Logs every reply in one line, probes at level debug: caller, operation, status and duration. Paths are logged as their
 * route; queries, headers and bodies are not logged, since they may hold secrets.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger, level: "info" | "debug"): void {
  // Without these levels the hook would only cost time.
  if (!["trace", "debug", level].includes(log.level)) return;
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions } = request;
    log[isProbe(routeOptions.url) ? "debug" : level](
      {
        event: "answered",
        reqId: request.id,
        operation: operationOf(request),
        method,
        route: routeOptions.url ?? null,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        caller: callerNames.get(request) ?? null,
        ...(errorCodes.has(request) && { code: errorCodes.get(request) }),
      },
      "answered",
    );
    done();
  });
}

/** Traces every request but probes, as a part of the trace that its client has begun. */
export function traceRequests(app: FastifyInstance): void {
  const tracer = currentTracer();
  if (tracer === null) return;
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook("onRequest", (request, reply, done) => {
    const { method, routeOptions, headers } = request;
    if (isProbe(routeOptions.url)) return done();
    const { traceparent } = headers;
    const span = tracer.start(`${method} ${routeOptions.url ?? "unknown route"}`, {
      kind: "server",
      attributes: {
        "http.request.method": method,
        "http.route": routeOptions.url,
        "holdfast.operation": routeOptions.config.operation,
        "holdfast.request_id": request.id,
      },
      traceparent: typeof traceparent === "string" ? traceparent : undefined,
    });
    spans.set(request, span);
    // The event also comes when the client disconnects.
    reply.raw.once("close", () => {
      const code = errorCodes.get(request);
      const attributes = { "http.response.status_code": reply.statusCode, "enduser.id": callerNames.get(request) };
      span.end(attributes, reply.statusCode >= 500 ? (code ?? String(reply.statusCode)) : undefined);
    });
    done();
  });
  // Behind the body, whose arrival would lose the context.
  app.addHook("preHandler", (request, _, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.within(() => done());
  });
}

/** The operation of a request; `other` for health checks, documents and unknown routes. */
export function operationOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.operation ?? OTHER_OPERATION;
}
