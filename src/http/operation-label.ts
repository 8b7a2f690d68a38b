import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route serves, as named in logs and metrics. */
    readonly operation?: string;
  }
}

/** The operation of a request; `other` for health checks, documents and unknown routes. */
export function operationOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.operation ?? OTHER_OPERATION;
}

/** The label of requests that do not belong to an operation. */
export const OTHER_OPERATION = "other";
