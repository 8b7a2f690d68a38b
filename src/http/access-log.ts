import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import { operationOf } from "./route-operation.ts";

const callers = new WeakMap<FastifyRequest, string>();

/** Says who makes a request, for the log. */
export function setCaller(request: FastifyRequest, name: string): void {
  callers.set(request, name);
}

/**
 * Logs every reply in one line: who asked for which operation, and what came of it. Paths are written as their route
 * is, and queries, headers and bodies not at all, since anything may be in them.
 */
export function logRequests(app: FastifyInstance, log: FastifyBaseLogger): void {
  if (!isSaid(log)) return;
  app.addHook("onResponse", (request, reply, done) => {
    const { method, routeOptions } = request;
    request.log.info(
      {
        operation: operationOf(request),
        method,
        route: routeOptions.url ?? null,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        caller: callers.get(request) ?? null,
      },
      "answered",
    );
    done();
  });
}

// Lines that nobody would see need not be put together.
function isSaid(log: FastifyBaseLogger): boolean {
  return log.level === "info" || log.level === "debug" || log.level === "trace";
}
