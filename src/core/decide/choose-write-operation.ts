import type { JsonObject } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import type { Kind, WriteRoute } from "../kind.ts";
import type { Live } from "../live.ts";

/** What decides by which operation a resource is written: the part of `ServerCapabilities` that a decision asks. */
export type WriteCapabilities = {
  /** False only when the route is known to be missing. */
  readonly has: (operation: OperationName) => boolean;
  /** Whether `postModelVersion` registers versions on this server; null while unknown. */
  readonly registers: boolean | null;
};

/** The write operation for a resource; null when the server has none that may be used for what the manifest declares. */
export function chooseWriteOperation(
  kind: Kind,
  live: Live,
  capabilities: WriteCapabilities,
  manifest: JsonObject,
): WriteRoute | null {
  const routes = kind.writeRoutes.filter(
    ({ operation, covers, createsOnly }) =>
      capabilities.has(operation) &&
      (covers?.(manifest) ?? true) &&
      !(createsOnly === true && live.state === "present"),
  );
  // What may exist is not created: only where nothing else is possible, since the server then refuses it.
  const inOrder = live.state === "unknown" ? routes.toSorted((a, b) => rank(a) - rank(b)) : routes;
  return inOrder.find(({ caution }) => caution === undefined || (capabilities.registers ?? isUnused(live))) ?? null;
}

function rank({ createsOnly }: WriteRoute): number {
  return createsOnly === true ? 1 : 0;
}

// `postModelVersion` deletes on some servers. When the name has no version, trying it once cannot do harm.
function isUnused(live: Live): boolean {
  return live.state === "absent" && live.newest === undefined;
}
