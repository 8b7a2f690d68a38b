import type { ResourceEntry, ResourcesReply } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { hasBadRollout, isSettled, isSuccess } from "../../core/report/report.ts";
import type { ResourceEvent, ResourceStatus } from "../../core/report/target-status.ts";
import { kindOf } from "../../kinds/index.ts";
import { isTroubled } from "../http/resource-states.ts";
import type { resourceOrders } from "./api-operations.ts";

/** What is known of the resources of a target. */
export type KnownResources = {
  /** Those that are not as declared, as the state has them, by their last event. */
  readonly unsettled: readonly ResourceEvent[];
  /** What the last passes of this process found; nothing if it ran none. */
  readonly seen: readonly ResourceStatus[];
  /** Whether no other process runs passes of the target, so that what this one found is all that there is. */
  readonly isSeenAlone: boolean;
  /** The resources that the ledgers have records of. */
  readonly recorded: readonly Identity[];
};

/** The resources of a target, those that need attention first. */
export function resourceRows({ unsettled, seen, isSeenAlone, recorded }: KnownResources): readonly ResourceEntry[] {
  const since = new Map(unsettled.map(({ identity, at }) => [identity, at]));
  if (isSeenAlone && seen.length > 0) {
    // A resource that is declared twice is invalid at each place.
    return byAttention(seen.map((one) => rowOf(one, isSettled(one) ? null : (since.get(one.identity) ?? null))));
  }
  const rows = new Map(recorded.map((identity) => [identity, recordedRow(identity)]));
  // Another process may have found since that it is not so.
  for (const one of seen) if (isSettled(one)) rows.set(one.identity, rowOf(one, null));
  for (const event of unsettled) rows.set(event.identity, rowOf(event, event.at));
  return byAttention([...rows.values()]);
}

function rowOf(status: ResourceStatus, since: string | null): ResourceEntry {
  const { identity, state, rollout, hasDrifted, why } = status;
  const needsAttention = isTroubled(status);
  return { identity, kind: knownKindOf(identity), state, rollout, hasDrifted, why, needsAttention, since };
}

function recordedRow(identity: Identity): ResourceEntry {
  const nothing = { rollout: null, hasDrifted: false, why: null, needsAttention: false, since: null };
  return { identity, kind: knownKindOf(identity), state: "recorded", ...nothing };
}

/** The kind of a resource; empty where it is none: the place of an invalid manifest that names no resource has a slash too. */
export function knownKindOf(identity: Identity): string {
  const { kind } = splitIdentity(identity);
  return kindOf(kind) === undefined ? "" : kind;
}

function byAttention(rows: readonly ResourceEntry[]): readonly ResourceEntry[] {
  return rows.toSorted((a, b) => rankOf(a) - rankOf(b) || compareText(a.identity, b.identity));
}

const WORST: readonly ResourceEntry["state"][] = ["invalid", "failed", "unknown"];

function rankOf(row: ResourceEntry): number {
  if (!row.needsAttention) return row.rollout === "progressing" ? 3 : 4;
  if (WORST.includes(row.state) || hasBadRollout(row)) return 0;
  return isSuccess(row.state) ? 2 : 1;
}

/** What is asked of the resources of a target. */
export type ResourceQuery = {
  /** The one that is asked for; null for all that match. */
  readonly identity: string | null;
  readonly state: readonly string[];
  readonly kind: readonly string[];
  readonly attention: boolean;
  readonly search: string | null;
  readonly sort: (typeof resourceOrders)[number];
  readonly offset: number;
  readonly limit: number;
};

/** All resources of a target, ready to be asked for parts of them. */
export type ResourceTable = (query: ResourceQuery) => Omit<ResourcesReply, "target">;

/** Counts the resources once, and keeps what matches the filters of the last query, since a reader asks for one part after the other. */
export function resourceTable(rows: readonly ResourceEntry[]): ResourceTable {
  const facts = {
    total: rows.length,
    states: counted(rows, ({ state }) => state),
    kinds: counted(rows, ({ kind }) => kind),
    needsAttention: rows.filter((row) => row.needsAttention).length,
  };
  let last: { readonly key: string; readonly matching: readonly ResourceEntry[] } | null = null;
  return ({ offset, limit, ...filter }) => {
    const key = JSON.stringify(filter);
    if (last?.key !== key) last = { key, matching: sorted(rows.filter(matcher(filter)), filter.sort) };
    const { matching } = last;
    return { ...facts, matching: matching.length, offset, resources: matching.slice(offset, offset + limit) };
  };
}

type Filter = Omit<ResourceQuery, "offset" | "limit">;

function matcher({ identity, state, kind, attention, search }: Filter): (row: ResourceEntry) => boolean {
  const states = new Set(state);
  const kinds = new Set(kind);
  const text = search?.toLowerCase() ?? "";
  return (row) =>
    (identity === null || row.identity === identity) &&
    (states.size === 0 || states.has(row.state)) &&
    (kinds.size === 0 || kinds.has(row.kind)) &&
    (!attention || row.needsAttention) &&
    (text === "" || row.identity.toLowerCase().includes(text) || (row.why?.toLowerCase().includes(text) ?? false));
}

function sorted(rows: readonly ResourceEntry[], sort: ResourceQuery["sort"]): readonly ResourceEntry[] {
  if (sort === "attention") return rows;
  const isDown = sort.startsWith("-");
  const field = sort.replace("-", "") as "identity" | "kind" | "state" | "since";
  const order = (a: ResourceEntry, b: ResourceEntry): number => {
    const [one, other] = [a[field], b[field]];
    // What has no time comes last in both directions.
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return isDown ? compareText(other, one) : compareText(one, other);
  };
  return rows.toSorted((a, b) => order(a, b) || compareText(a.identity, b.identity));
}

function counted(rows: readonly ResourceEntry[], of: (row: ResourceEntry) => string): { [name: string]: number } {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
  return Object.fromEntries(counts);
}
