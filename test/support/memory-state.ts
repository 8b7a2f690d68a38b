import { isObject, type Json, type JsonObject } from "../../src/contract/json.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import type { GateReceipt } from "../../src/core/gates/content-gate.ts";
import type { TargetDecisions } from "../../src/core/holds.ts";
import type { Identity } from "../../src/core/manifest.ts";
import type { Recorded } from "../../src/core/recorded.ts";
import type { PassRecord, ResourceEvent, TargetStatus } from "../../src/core/report/target-status.ts";
import { noFacts, type ServerFactChanges } from "../../src/core/server-facts.ts";
import { NO_PROGRESS } from "../../src/core/stages/target-progress.ts";
import { generateKey } from "../../src/seal/seal-key.ts";
import type { Ledger, PendingIntent, ReceiptHead } from "../../src/state/ledger.ts";
import { contentText, receiptDigest } from "../../src/state/receipt-digest.ts";
import { resourceChanges } from "../../src/state/resource-events.ts";
import type { StateAccess } from "../../src/state/state.ts";
import {
  KEPT_EVENTS,
  KEPT_GATE_RECEIPTS,
  KEPT_PASSES,
  NO_MEMORY,
  type StoredPage,
  type StoredPageRequest,
  type TargetStore,
} from "../../src/state/target-store.ts";

type Receipt = Recorded & { readonly mark: string };

/** What a ledger keeps, by value: whoever changes what was given or answered changes nothing here. */
type Kept = {
  readonly receipts: Map<Identity, Receipt>;
  readonly intents: Map<string, PendingIntent>;
  facts: JsonObject;
};

/** A state that lives as long as it is referred to. */
export function memoryState(): StateAccess {
  const key = generateKey();
  const servers = new Map<string, Kept>();
  const target = memoryTargetStore();
  let isLocked = false;
  const state = {
    key,
    isWritable: true,
    holder: async () => `memory ${key.version}`,
    formerHolder: async () => null,
    lock: async () => {
      if (isLocked) throw new HoldfastError("locked", "another writer has the state");
      isLocked = true;
      return {
        leftBy: null,
        number: null,
        [Symbol.asyncDispose]: async () => {
          isLocked = false;
        },
      };
    },
    ledger: async (server: string) => {
      const kept = servers.get(server) ?? { receipts: new Map(), intents: new Map(), facts: {} };
      servers.set(server, kept);
      return ledgerOn(kept, receiptDigest(key));
    },
  };
  return {
    open: async () => state,
    target: async () => target,
    recorded: async () => [...new Set([...servers.values()].flatMap(({ receipts }) => [...receipts.keys()]))],
    exists: async () => servers.size > 0,
    isLocked: async () => isLocked,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function memoryTargetStore(): TargetStore {
  let decisions: TargetDecisions = { holds: [], released: [] };
  let status: TargetStatus | null = null;
  let passes: readonly (PassRecord & { readonly nth: number })[] = [];
  let events: readonly { readonly event: ResourceEvent; readonly nth: number }[] = [];
  const unsettled = new Map<Identity, ResourceEvent>();
  let memory = NO_MEMORY;
  const gateReceipts = new Map<string, GateReceipt>();
  let progress = NO_PROGRESS;
  let expansion: Json | null = null;
  let count = 0;
  const recordOf = ({ nth: _, ...record }: (typeof passes)[number]): PassRecord => structuredClone(record);
  return {
    decisions: async () => structuredClone(decisions),
    decide: async (change) => {
      const before = decisions;
      decisions = structuredClone(change(structuredClone(before)));
      return { before, after: structuredClone(decisions) };
    },
    status: async () => structuredClone(status),
    keep: async ({ status: kept, records = [], resources = null, memory: next = memory }) => {
      status = structuredClone(kept);
      memory = structuredClone(next);
      const added = records.map((record) => ({ ...structuredClone(record), nth: ++count }));
      const oldest = Date.parse(added.at(-1)?.endedAt ?? "") - KEPT_PASSES.ms;
      passes = [...passes, ...added].filter(({ endedAt }) => !(Date.parse(endedAt) < oldest)).slice(-KEPT_PASSES.count);
      if (resources === null) return;
      const changes = resourceChanges(unsettled, structuredClone(resources));
      const day = new Date(Date.parse(resources.at) - KEPT_PASSES.ms).toISOString().slice(0, 10);
      const all = [...events, ...changes.events.map((event) => ({ event, nth: ++count }))];
      events = all.filter(({ event }) => event.at.slice(0, 10) >= day).slice(-KEPT_EVENTS);
      for (const identity of changes.settled) unsettled.delete(identity);
      for (const event of changes.unsettled) unsettled.set(event.identity, event);
    },
    memory: async () => structuredClone(memory),
    gateReceipts: async (identity) =>
      structuredClone(
        [...gateReceipts]
          .filter(([, one]) => identity === null || one.identity === identity)
          .toSorted(([a, { at }], [b, other]) => (`${at} ${a}` < `${other.at} ${b}` ? -1 : 1))
          .map(([, one]) => one),
      ),
    keepGateReceipts: async (receipts) => {
      for (const one of receipts) gateReceipts.set(`${one.identity} ${one.content} ${one.gate}`, structuredClone(one));
      const oldest =
        [...gateReceipts.values()]
          .map(({ at }) => at)
          .toSorted()
          .at(-KEPT_GATE_RECEIPTS) ?? "";
      for (const [key, { at }] of gateReceipts) if (at < oldest) gateReceipts.delete(key);
    },
    progress: async () => structuredClone(progress),
    advance: async (change) => {
      progress = structuredClone(change(structuredClone(progress), null));
      return structuredClone(progress);
    },
    expansion: async () => structuredClone(expansion),
    keepExpansion: async (kept) => {
      expansion = structuredClone(kept);
    },
    passAt: async (at) => {
      const found = passes.findLast(
        ({ startedAt, endedAt }) => Date.parse(startedAt) <= at && at <= Date.parse(endedAt),
      );
      return found === undefined ? null : recordOf(found);
    },
    passes: async (page) => {
      const { entries, next } = newestFirst(passes, page, (one) => one.nth);
      return { entries: entries.map(recordOf), next };
    },
    events: async ({ identity, hasDrifted }, page) => {
      const asked = events.filter(
        ({ event }) =>
          (identity === undefined || event.identity === identity) && (hasDrifted === undefined || event.hasDrifted),
      );
      const { entries, next } = newestFirst(asked, page, (one) => one.nth);
      return { entries: entries.map(({ event }) => structuredClone(event)), next };
    },
    unsettled: async ({ state }, { limit, after = "" }) => {
      const asked = [...unsettled.values()]
        .filter((one) => (state === undefined || one.state === state) && one.identity > after)
        .toSorted((a, b) => (a.identity < b.identity ? -1 : 1));
      const entries = structuredClone(asked.slice(0, limit));
      return { entries, next: asked.length > limit ? (entries.at(-1)?.identity ?? null) : null };
    },
    driftByDay: async ({ limit, after }) => {
      const drifted = events.flatMap(({ event }) => (event.hasDrifted ? [event] : []));
      const days = [...Map.groupBy(drifted, ({ at }) => at.slice(0, 10))]
        .map(([day, all]) => ({ day, events: all.length, resources: new Set(all.map((one) => one.identity)).size }))
        .filter(({ day }) => after === undefined || day < after)
        .toSorted((a, b) => (a.day > b.day ? -1 : 1));
      const entries = days.slice(0, limit);
      return { entries, next: days.length > limit ? (entries.at(-1)?.day ?? null) : null };
    },
  };
}

function newestFirst<Entry>(
  all: readonly Entry[],
  { limit, after }: StoredPageRequest,
  nth: (entry: Entry) => number,
): StoredPage<Entry> {
  const asked = all.filter((entry) => after === undefined || nth(entry) < Number(after)).toReversed();
  const entries = asked.slice(0, limit);
  const last = entries.at(-1);
  return { entries, next: asked.length > limit && last !== undefined ? String(nth(last)) : null };
}

function ledgerOn(kept: Kept, digest: Ledger["digest"]): Ledger {
  const { receipts, intents } = kept;
  const waiting: ServerFactChanges[] = [];
  const storeFacts = (learned: ServerFactChanges): void => {
    const merged = mergePatch(kept.facts, JSON.parse(JSON.stringify(learned)));
    kept.facts = isObject(merged) ? merged : {};
  };
  const store = (): void => waiting.splice(0).forEach(storeFacts);
  const record = (receipt: Recorded): void => {
    receipts.set(receipt.identity, { ...structuredClone(receipt), mark: crypto.randomUUID() });
  };
  return {
    digest,
    heads: async () => new Map(inOrder(receipts).map((receipt) => [receipt.identity, headOf(receipt, digest)])),
    recorded: async (identities) => {
      const wanted = identities === undefined ? inOrder(receipts) : [...identities].map((one) => receipts.get(one));
      return new Map(wanted.flatMap((one) => (one === undefined ? [] : [[one.identity, contentOf(one)]])));
    },
    record: async (all) => {
      store();
      all.forEach(record);
    },
    forget: async (identities) => {
      store();
      for (const identity of identities) receipts.delete(identity);
    },
    begin: async (intent, instead = []) => {
      store();
      for (const id of instead) intents.delete(id);
      intents.set(intent.id, structuredClone({ ...intent, reply: null }));
    },
    keepReply: async (id, reply) => {
      const intent = intents.get(id);
      if (intent !== undefined) intents.set(id, { ...intent, reply: Uint8Array.from(reply) });
    },
    close: async (id, receipt) => {
      store();
      intents.delete(id);
      if (receipt !== null) record(receipt);
    },
    pending: async () => structuredClone([...intents.values()]),
    facts: async () => ({ ...noFacts, ...structuredClone(kept.facts) }),
    storeFacts: async (learned) => storeFacts(learned),
    storeFactsWithNext: (agreed) => void waiting.push(agreed),
    storeWaitingFacts: async () => store(),
  };
}

function inOrder(receipts: Kept["receipts"]): readonly Receipt[] {
  return [...receipts.values()].toSorted((a, b) => (a.identity < b.identity ? -1 : 1));
}

function headOf(receipt: Receipt, digest: Ledger["digest"]): ReceiptHead {
  const { identity, kind, id, version, at, mark, returned } = receipt;
  const head = { identity, kind, id, version, at, mark };
  return returned === null ? head : { ...head, digest: digest(contentText(receipt)) };
}

function contentOf({ mark: _, ...receipt }: Receipt): Recorded {
  return structuredClone(receipt);
}

/** RFC 7396. */
function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const before = isObject(target) ? target : {};
  const changed = Object.entries(patch).map(
    ([name, value]) => [name, mergePatch(before[name], value ?? null)] as const,
  );
  return Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(changed) }).filter(([, one]) => one !== null),
  );
}
