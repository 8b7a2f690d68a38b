import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import { operationOf } from "./operation-label.ts";

const callerNames = new WeakMap<FastifyRequest, string>();

/** Sets the caller of a request, for the log. */
export function setCaller(request: FastifyRequest, name: string): void {
  callerNames.set(request, name);
}

/**
 * Logs every reply in one line: caller, operation, status and duration. Paths are logged as their route; queries,
 * headers and bodies are not logged, since they may hold secrets.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  if (!logsInfo(log)) return;
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions } = request;
    request.log.info(
      {
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

// Without level `info` the hook would only cost time.
function logsInfo(log: FastifyBaseLogger): boolean {
  return log.level === "info" || log.level === "debug" || log.level === "trace";
}
