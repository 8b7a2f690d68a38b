import type { WriteOperation } from "../contract/operations.ts";
import type { Call } from "./call.ts";
import { NO_MANIFEST } from "./missing-route.ts";
import { readError } from "./read-error.ts";

/** Finds out whether the server has the route of a write, by a request that has no effect; what it learns it remembers. */
export type RouteProbe = (name: WriteOperation, stop: { readonly signal: AbortSignal }) => Promise<void>;

/** A probe over the caller to the server at the origin; it rejects where the answer leaves the question open. */
export function createRouteProbe(call: Call, origin: string): RouteProbe {
  return async (name, { signal }) => {
    const answer = await call(name, NO_MANIFEST, { repeats: () => true, fresh: false, signal });
    signal.throwIfAborted();
    const isOpen = answer.state !== "answered" && !(answer.state === "refused" && answer.refusal.status < 500);
    if (isOpen || (answer.state === "refused" && answer.refusal.reason === "route-unclear"))
      throw readError(name, answer, origin);
  };
}
