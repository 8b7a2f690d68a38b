import type { Stop } from "../clock/clock.ts";
import type { WriteOperation } from "../contract/operations.ts";
import type { Call } from "./call.ts";
import { NO_MANIFEST } from "./missing-route.ts";
import { readError } from "./read-error.ts";

/**
 * Determines, by a request without effect, whether the server has the route of a write; the capabilities keep it. Resolves
 * to whether the server has refused the request, as it should.
 */
export type RouteProbe = (name: WriteOperation, stop: Stop) => Promise<boolean>;

/** Creates a probe that uses `call`. It rejects if the answer does not determine whether the route exists. */
export function createRouteProbe(call: Call, origin: string): RouteProbe {
  return async (name, { signal }) => {
    const answer = await call(name, NO_MANIFEST, { repeats: () => true, fresh: false, signal });
    signal.throwIfAborted();
    const isOpen = answer.state !== "answered" && !(answer.state === "refused" && answer.refusal.status < 500);
    if (isOpen || (answer.state === "refused" && answer.refusal.reason === "route-unclear"))
      throw readError(name, answer, origin);
    return answer.state === "refused";
  };
}
