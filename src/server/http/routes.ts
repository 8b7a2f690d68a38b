import type { FastifyInstance, HTTPMethods } from "fastify";
import { isDocumented, type Operation, type OperationName, operation, operations } from "../../contract/operations.ts";
import { HttpError } from "../../http/http-error.ts";
import type { ServedOperation } from "./define-operation.ts";
import { addOperationRoute, createOperationRunner, fastifyPath, type OperationRouting } from "./operation-route.ts";

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
