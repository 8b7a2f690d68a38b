import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import { operationOf } from "./operation-label.ts";

const callerNames = new WeakMap<FastifyRequest, string>();

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
