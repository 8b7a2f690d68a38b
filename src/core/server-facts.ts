import { isObject, type JsonObject } from "../contract/json.ts";
import type { Identity } from "./manifest.ts";
import type { Removal } from "./removal.ts";

/** A resource without a record that the source no longer declares, and the commit that removed it. */
export type RemovedEarlier = Removal & { readonly identity: Identity };

/**
 * Whether a dryRun on this server was proven to change nothing. `indicated`: the dryRun of a new application was
 * answered without ids, which a write never is.
 */
export type DryRunProof = "unproven" | "indicated" | "proven" | "ignored";

/** The facts about a control plane that are stored between runs. */
export type ServerFacts = {
  /** The extensions that have answered; each run determines again which ones are missing. */
  readonly routes: { readonly [operation: string]: "yes" | "no" };
  readonly dryRun: DryRunProof;
  /** Whether `postModelVersion` registered a version here; null while unknown. */
  readonly registers: boolean | null;
  /** Orphans that the operator released with `--allow-shrink`: they no longer count as missing. */
  readonly released?: readonly Identity[];
  /** Orphans that the history showed when the ledger had no records; null or absent where it was not read. */
  readonly removed?: readonly RemovedEarlier[] | null;
  /** Whether the server executes a write with an Idempotency-Key only once. */
  readonly honoursKeys?: boolean;
  /** The id of this client's subject in the control plane. */
  readonly subject?: string | null;
  /** Whether the last applied source had a configuration. */
  readonly configured?: boolean;
  /** The last lease on this server that a run with this ledger held. */
  readonly lease?: NumberedLease | null;
};

/** Changes to merge into the stored facts; null removes a fact. */
export type ServerFactChanges = {
  readonly [name in keyof Omit<ServerFacts, "routes">]?: ServerFacts[name] | null;
} & { readonly routes?: { readonly [operation: string]: "yes" | "no" | null } };

/** A lease with its fencing token (`number`), which shows whether another holder had the lease in between. */
export type NumberedLease = { readonly scope: string; readonly number: number };

/** The facts about a new control plane. */
export const noFacts: ServerFacts = { routes: {}, dryRun: "unproven", registers: null };

/** Where facts about a control plane are stored. Changes are merged, since other runs may have stored others meanwhile. */
export type FactStore = {
  readonly storeFacts: (learned: ServerFactChanges) => Promise<void>;
  /** Stores what was agreed to in the transaction of the next write. */
  readonly storeFactsWithNext: (agreed: ServerFactChanges) => void;
};

/** Merges changes into stored facts, as a JSON merge patch (RFC 7396). */
export function mergeFacts(stored: JsonObject, changes: ServerFactChanges): JsonObject {
  const patch: unknown = JSON.parse(JSON.stringify(changes));
  return isObject(patch) ? merge(stored, patch) : stored;
}

function merge(before: JsonObject, patch: JsonObject): JsonObject {
  const changed = Object.entries(patch).map(([name, value]) => {
    const earlier = before[name];
    return [name, isObject(value) ? merge(isObject(earlier) ? earlier : {}, value) : value] as const;
  });
  const all = Object.entries({ ...before, ...Object.fromEntries(changed) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}
