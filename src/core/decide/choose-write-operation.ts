import type { OperationName } from "../../contract/operations.ts";
import type { Kind, WriteRoute } from "../kind.ts";
import type { Live } from "../live.ts";

/** What is known about a control plane beyond the 20 operations. */
export type ServerFacts = {
  /** False only when the route is known to be missing. */
  readonly has: (operation: OperationName) => boolean;
  /** Whether `postModelVersion` registers versions on this server; null while unknown. */
  readonly registers: boolean | null;
};

/** The write operation for a resource; null when the server has none that may be used. */
export function chooseWriteOperation(kind: Kind, live: Live, serverFacts: ServerFacts): WriteRoute | null {
  const routes = kind.writeRoutes.filter(({ operation }) => serverFacts.has(operation));
  return routes.find(({ caution }) => caution === undefined || (serverFacts.registers ?? isUnused(live))) ?? null;
}

// `postModelVersion` deletes on some servers. When the name has no version, trying it once cannot do harm.
function isUnused(live: Live): boolean {
  return live.state === "absent" && live.newest === undefined;
}
