import type { FastifyRequest } from "fastify";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The operation that a route serves, as logs and metrics call it. */
    readonly operation?: string;
  }
}

/** The operation that a request asks for; `other` for health, documents and what is not there. */
export function operationOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.config.operation ?? OTHER_OPERATION;
}

/** What is no operation. */
export const OTHER_OPERATION = "other";
