// src/http: the HTTP server that the daemon and the control plane share. See docs/control-plane.md#limits.

import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";

const callerNames = new WeakMap<FastifyRequest, string>();

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route serves, as named in logs and metrics. */
    readonly operation?: string;
    /** Whether its replies last for as long as their readers want, so that their times say nothing. */
    readonly isStream?: true;
  }
}

/** The label of requests that do not belong to an operation. */
export const OTHER_OPERATION = "other";

/** Sets the caller of a request, for the log. */
export function setCaller(request: FastifyRequest, name: string): void {
  callerNames.set(request, name);
}

/**
 * Logs every reply in one line at level debug: caller, operation, status and duration. Paths are logged as their route; queries,
 * headers and bodies are not logged, since they may hold secrets.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  // Without these levels the hook would only cost time.
  if (log.level !== "debug" && log.level !== "trace") return;
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions } = request;
    log.debug(
      {
        event: "answered",
        reqId: request.id,
        operation: operationOf(request),
        method,
        route: routeOptions.url ?? null,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        caller: callerNames.get(request) ?? null,
      },
      "answered",
    );
    done();
  });
}

/** The operation of a request; `other` for health checks, documents and unknown routes. */
export function operationOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.operation ?? OTHER_OPERATION;
}
