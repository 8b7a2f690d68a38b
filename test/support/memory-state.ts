import type { PlanReply, WrittenChanges } from "../../src/contract/generated/output.ts";
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
import { driftSpan, resourceChanges } from "../../src/state/resource-events.ts";
import type { StateAccess } from "../../src/state/state.ts";
import {
  type EndedAction,
  KEPT_CHANGES,
  KEPT_EVENTS,
  KEPT_GATE_RECEIPTS,
  KEPT_PASSES,
  KEPT_PLANS,
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

type Cached = { readonly text: string };

/** A state that lives as long as it is referred to. */
export function memoryState(): StateAccess {
  const key = generateKey();
  const servers = new Map<string, Kept>();
  const caches = new Map<string, Cached>();
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
    cache: (_: string, about: string) => {
      let known: Cached | undefined;
      return {
        readNew: async () => {
          const found = caches.get(about);
          const isOther = found !== known;
          known = found ?? known;
          return isOther ? (found?.text ?? null) : null;
        },
        write: async (content: Generator<string>) => {
          known = { text: [...content].join("") };
          caches.set(about, known);
          return null;
        },
      };
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
  let events: readonly { readonly event: ResourceEvent; readonly nth: number; readonly changed?: WrittenChanges }[] =
    [];
  const unsettled = new Map<Identity, ResourceEvent>();
  let memory = NO_MEMORY;
  const gateReceipts = new Map<string, GateReceipt>();
  let progress = NO_PROGRESS;
  let expansion: Json | null = null;
  const plans = new Map<string, PlanReply>();
  const actions = new Map<string, { readonly content: string; until: number | null; ended: EndedAction }>();
  const placeOf = ({ plan: { at, id } }: PlanReply): string => `${at}_${id}`;
  const latestPlans = (): readonly PlanReply[] =>
    [...plans.values()].toSorted((a, b) => (placeOf(a) > placeOf(b) ? -1 : 1));
  let count = 0;
  const keepRecords = (records: readonly PassRecord[]): void => {
    const added = records.map((record) => ({ ...structuredClone(record), nth: ++count }));
    const oldest = Date.parse(added.at(-1)?.endedAt ?? "") - KEPT_PASSES.ms;
    passes = [...passes, ...added].filter(({ endedAt }) => !(Date.parse(endedAt) < oldest)).slice(-KEPT_PASSES.count);
  };
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
      keepRecords(records);
      if (resources === null) return;
      const changes = resourceChanges(unsettled, structuredClone(resources));
      const day = new Date(Date.parse(resources.at) - KEPT_PASSES.ms).toISOString().slice(0, 10);
      const stored = (event: ResourceEvent) => {
        const changed = structuredClone(resources.changed?.get(event.identity));
        return { event, nth: ++count, ...(changed !== undefined && { changed }) };
      };
      const all = [...events, ...changes.events.map(stored)];
      events = all.filter(({ event }) => event.at.slice(0, 10) >= day).slice(-KEPT_EVENTS);
      let room = KEPT_CHANGES;
      events = events
        .toReversed()
        .map((one) => {
          if (one.changed === undefined) return one;
          const isKept = room > 0;
          room -= JSON.stringify(one.changed).length;
          return isKept ? one : { event: one.event, nth: one.nth };
        })
        .toReversed();
      for (const identity of changes.settled) unsettled.delete(identity);
      for (const event of changes.unsettled) unsettled.set(event.identity, event);
    },
    keepRecords: async (records) => keepRecords(records),
    takeAction: async ({ key, content, interrupted }, { now, forMs }) => {
      for (const one of actions.values()) {
        if (one.until === null || one.until > now) continue;
        one.until = null;
        one.ended = { ...one.ended, record: { ...one.ended.record, endedAt: new Date(now).toISOString() } };
        keepRecords([one.ended.record]);
      }
      const found = actions.get(key);
      if (found?.until === null) return { is: "ended", content: found.content, ...structuredClone(found.ended) };
      if (found !== undefined) return { is: "running", content: found.content };
      const since = new Date(Date.parse(interrupted.record.startedAt) - KEPT_PASSES.ms).toISOString();
      for (const [old, { ended }] of actions) if (ended.record.startedAt < since) actions.delete(old);
      actions.set(key, { content, until: now + forMs, ended: structuredClone(interrupted) });
      return { is: "taken" };
    },
    renewAction: async (key, { now, forMs }) => {
      const found = actions.get(key);
      if (found !== undefined && found.until !== null) found.until = now + forMs;
    },
    endAction: async (key, ended) => {
      keepRecords([ended.record]);
      const found = actions.get(key);
      if (found !== undefined) Object.assign(found, { until: null, ended: structuredClone(ended) });
    },
    memory: async () => structuredClone(memory),
    keepBegun: async (begunCommit) => {
      memory = { ...memory, begunCommit };
    },
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
    reviewedPlans: async (since, { limit, after }) => {
      const all = latestPlans().filter(({ plan }) => plan.at >= since);
      const rest = after === undefined ? all : all.filter((one) => placeOf(one) < after);
      const [entries, last] = [rest.slice(0, limit), rest[limit - 1]];
      const next = rest.length > limit && last !== undefined ? placeOf(last) : null;
      return { entries: entries.map(({ plan }) => structuredClone(plan)), next };
    },
    reviewedPlan: async (id, since) => {
      const found = plans.get(id);
      return found === undefined || found.plan.at < since ? null : structuredClone(found);
    },
    keepReviewedPlan: async (reply) => {
      const isReplaced = plans.has(reply.plan.id);
      plans.set(reply.plan.id, structuredClone(reply));
      const since = new Date(Date.parse(reply.plan.at) - KEPT_PLANS.ms).toISOString();
      for (const [nth, { plan }] of latestPlans().entries())
        if (nth >= KEPT_PLANS.count || plan.at < since) plans.delete(plan.id);
      return isReplaced;
    },
    passAt: async (at) => {
      const found = passes.findLast(
        ({ startedAt, endedAt, result }) =>
          result !== "action" && Date.parse(startedAt) <= at && at <= Date.parse(endedAt),
      );
      return found === undefined ? null : recordOf(found);
    },
    passes: async (page) => {
      const { entries, next } = newestFirst(passes, page, (one) => one.nth);
      return { entries: entries.map(recordOf), next };
    },
    events: async ({ identity, hasDrifted, at, isKnown, withChanges }, page) => {
      const asked = events.filter(
        ({ event, changed }) =>
          (isKnown === undefined || changed !== undefined) &&
          (identity === undefined || event.identity === identity) &&
          (hasDrifted === undefined || event.hasDrifted) &&
          (at === undefined || event.at === at),
      );
      const { entries, next } = newestFirst(asked, page, (one) => one.nth);
      const shown = entries.map(({ event, changed }) =>
        withChanges === undefined || changed === undefined ? event : { ...event, changed },
      );
      return { entries: structuredClone(shown), next };
    },
    drifts: async (page) => {
      const drifted = events.filter(({ event }) => event.hasDrifted);
      const { entries, next } = newestFirst(drifted, page, (one) => one.nth);
      const nextOf = ({ nth, event: { identity } }: (typeof events)[number]) =>
        events.find((one) => one.nth > nth && one.event.identity === identity)?.event ?? null;
      return { entries: entries.map((one) => structuredClone(driftSpan(one.event, nextOf(one)))), next };
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

const isStage = ({ operation }: PendingIntent): boolean => operation === "stageArtifactVersion";

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
    pending: async () => structuredClone([...intents.values()].filter((one) => !isStage(one))),
    staged: async () => structuredClone([...intents.values()].filter(isStage)),
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
