import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import type { PlanReply, WrittenChanges } from "../../src/contract/generated/output.ts";
import { Secret } from "../../src/contract/secret.ts";
import type { GateReceipt } from "../../src/core/gates/content-gate.ts";
import type { Identity } from "../../src/core/manifest.ts";
import type { ReceiptContent } from "../../src/core/recorded.ts";
import type { PassRecord, ResourceState, ResourceStatus } from "../../src/core/report/target-status.ts";
import { NO_PROGRESS, withBegun } from "../../src/core/stages/target-progress.ts";
import { newStatus } from "../../src/daemon/status-after-pass.ts";
import { isPrintable } from "../../src/model/unprintable.ts";
import { generateKey } from "../../src/seal/seal-key.ts";
import type { Ledger } from "../../src/state/ledger.ts";
import { databaseStateAt, stateAt } from "../../src/state/open-state.ts";
import { contentText } from "../../src/state/receipt-digest.ts";
import type { ResourcesSeen } from "../../src/state/resource-events.ts";
import type { StateAccess } from "../../src/state/state.ts";
import {
  type EventFilter,
  KEPT_CHANGES,
  KEPT_GATE_RECEIPTS,
  KEPT_PASSES,
  KEPT_PLANS,
  NO_MEMORY,
  type StoredPageRequest,
  type TakenAction,
} from "../../src/state/target-store.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { memoryState } from "../support/memory-state.ts";
import { intent, receipt } from "../support/sample-ledger.ts";
import { databaseOf } from "../support/test-database.ts";

/** A state that nobody has used before, as each run accesses it. */
type Runs = { readonly access: (readKey?: () => string) => StateAccess; readonly keyText: string | null };

const implementations: readonly { readonly name: string; readonly create: () => Promise<Runs> }[] = inject("postgres")
  ? [
      {
        name: "PostgreSQL",
        create: async () => {
          const folder = await temporaryFolder();
          const address = new Secret((await databaseOf(folder, "template1")) ?? "");
          const place = { address, target: null, folder };
          // A database stores no key of its own.
          const keyText = generateKey().bytes.open();
          const access = (readKey = () => keyText) => disposedLater(databaseStateAt(place, { ...machine, readKey }));
          return { keyText, access };
        },
      },
    ]
  : [
      {
        name: "SQLite",
        create: async () => {
          const folder = await temporaryFolder();
          const access = (readKey?: () => string) =>
            disposedLater(stateAt(folder, readKey === undefined ? machine : { ...machine, readKey }));
          return { keyText: null, access };
        },
      },
      {
        name: "memory",
        create: async () => {
          const state = memoryState();
          return { keyText: null, access: () => state };
        },
      },
    ];

function disposedLater(access: StateAccess): StateAccess {
  onTestFinished(() => access[Symbol.asyncDispose]());
  return access;
}

const SERVER = "http://server";

test("a state names its holder as the control plane takes it, whatever its folder is called", async () => {
  for (const name of ["plain", "line\nfeed", "zero\u200bwidth", "\u202eright to left", "😀".repeat(60)]) {
    const access = disposedLater(stateAt(join(await temporaryFolder(), `${name}x`), machine));
    const holder = await (await access.open({ keyText: null })).holder();
    expect(holder).toMatch(/^.{1,256}$/u);
    expect(holder).toSatisfy(isPrintable);
  }
});

describe.each(implementations)("a state kept in $name", ({ create }) => {
  const ledgers = async () => {
    const { access, keyText } = await create();
    return async (server = SERVER) => {
      const used = access();
      const state = await used.open({ keyText });
      return { ...(await state.ledger(server)), [Symbol.asyncDispose]: used[Symbol.asyncDispose] };
    };
  };
  const ledgerOf = async () => (await ledgers())();
  const recordedIn = async (ledger: Ledger) => [...(await ledger.recorded()).values()];

  test("has one key and one name as the holder of leases, whoever opens it", async () => {
    const [one, other] = [await create(), await create()];
    const opened = ({ access, keyText }: Runs) => access().open({ keyText });
    const [first, second] = [await opened(one), await opened(one)];
    const third = await opened(other);
    expect(second.key.bytes.open()).toBe(first.key.bytes.open());
    expect(third.key.version).not.toBe(first.key.version);
    expect(await second.holder()).toBe(await first.holder());
    expect(await third.holder()).not.toBe(await first.holder());
  });

  test("is locked by one run at a time, until that ends", async () => {
    const { access, keyText } = await create();
    const [first, second] = [await access().open({ keyText }), await access().open({ keyText })];
    const lock = await first.lock();
    await expect(second.lock()).rejects.toMatchObject({ code: "locked" });
    await lock[Symbol.asyncDispose]();
    await using again = await second.lock();
    await expect(first.lock()).rejects.toMatchObject({ code: "locked" });
    expect(again).toBeDefined();
  });

  test("is not opened with another key as soon as anything is sealed, also by what needs no key", async () => {
    const { access, keyText } = await create();
    const other = () => "22".repeat(32);
    const openers: readonly ((used: StateAccess) => Promise<unknown>)[] = [
      (used) => used.target().then((store) => store.status()),
      (used) => used.recorded(),
      async (used) => (await used.open({ keyText: other() })).ledger(SERVER),
    ];
    // The memory has nothing that a key could open.
    const [one, another] = [access(), access()];
    if (one === another) return;
    for (const open of openers) await open(access(other));
    const ledger = await (await access().open({ keyText })).ledger(SERVER);
    const refusal = {
      code: "invalid",
      message: expect.stringMatching(/^the state in .* was sealed with another key$/),
    };
    await ledger.begin({ ...intent(), identity: receipt().identity, kind: receipt().kind });
    for (const open of openers) await expect(open(access(other))).rejects.toMatchObject(refusal);
    await ledger.close(intent().id, receipt());
    for (const open of openers) await expect(open(access(other))).rejects.toMatchObject(refusal);
    expect(await access().recorded()).toEqual([receipt().identity]);
  });

  test("names what it has records of on any server, and says whether a run has locked it", async () => {
    const { access, keyText } = await create();
    const used = access();
    expect(await used.exists()).toBe(false);
    expect([await used.recorded(), await used.isLocked()]).toEqual([[], false]);
    const state = await used.open({ keyText });
    for (const server of [SERVER, "http://other"])
      await (await state.ledger(server)).record([receipt(), receipt(server)]);
    {
      await using lock = await state.lock();
      expect([lock.leftBy, await access().isLocked()]).toEqual([null, true]);
    }
    expect(await access().isLocked()).toBe(false);
    expect(await access().exists()).toBe(true);
    const names = ["api", SERVER, "http://other"].map((name) => receipt(name).identity);
    expect((await access().recorded()).toSorted()).toEqual(names.toSorted());
  });

  test("is empty at first: no receipt, no intent, and nothing known of the server", async () => {
    await using ledger = await ledgerOf();
    expect([(await ledger.heads()).size, await recordedIn(ledger), await ledger.pending()]).toEqual([0, [], []]);
    expect(await ledger.facts()).toEqual({ routes: {}, dryRun: "unproven", registers: null });
  });

  test("has receipts, facts and open intents when it is opened again", async () => {
    const open = await ledgers();
    {
      await using ledger = await open();
      await ledger.record([receipt(), receipt("web")]);
      await ledger.begin(intent());
      await ledger.storeFacts({ routes: { listApps: "no" }, dryRun: "proven", registers: true });
    }
    await using ledger = await open();
    expect(await recordedIn(ledger)).toEqual([receipt(), receipt("web")]);
    expect(await ledger.pending()).toEqual([{ ...intent(), reply: null }]);
    expect(await ledger.facts()).toEqual({ routes: { listApps: "no" }, dryRun: "proven", registers: true });
  });

  test("shows a run what another one has recorded since", async () => {
    const open = await ledgers();
    await using reading = await open();
    expect(await recordedIn(reading)).toEqual([]);
    await using writing = await open();
    await writing.record([receipt()]);
    expect(await recordedIn(reading)).toEqual([receipt()]);
  });

  test("answers the receipts that are asked for, and none for what has none", async () => {
    await using ledger = await ledgerOf();
    const names = Array.from({ length: 1200 }, (_, index) => `s${index}`);
    await ledger.record(names.map(receipt));
    expect((await ledger.recorded()).size).toBe(1200);
    const wanted: readonly Identity[] = ["service/c1:ws1/s7", "team/none", "service/c1:ws1/s1100"];
    expect([...(await ledger.recorded(wanted)).keys()].toSorted()).toEqual([
      "service/c1:ws1/s1100",
      "service/c1:ws1/s7",
    ]);
  });

  test("lists receipts by identity without their content, each with a mark of its own", async () => {
    await using ledger = await ledgerOf();
    await ledger.record([receipt("web"), receipt()]);
    const before = [...(await ledger.heads()).values()];
    const { written: _, returned: __, ...head } = receipt();
    expect(before.map(({ identity }) => identity)).toEqual([receipt().identity, receipt("web").identity]);
    expect(before[0]).toEqual({ ...head, mark: expect.any(String), digest: expect.any(String) });
    await ledger.record([receipt()]);
    const after = [...(await ledger.heads()).values()];
    expect(after[0]?.mark).not.toBe(before[0]?.mark);
    expect(after[1]?.mark).toBe(before[1]?.mark);
  });

  test("tells by a digest what a receipt says, where the control plane has answered its content", async () => {
    await using ledger = await ledgerOf();
    const { identity, written, returned } = receipt();
    await ledger.record([receipt(), { ...receipt("web"), returned: null }]);
    const heads = await ledger.heads();
    const digest = (content: ReceiptContent) => ledger.digest(contentText(content));
    expect(heads.get(identity)?.digest).toBe(digest({ written, returned }));
    expect(heads.get(identity)?.digest).not.toBe(digest({ written: { ...written, name: "other" }, returned }));
    expect(heads.get(identity)?.digest).not.toBe(digest({ written, returned: { ...returned, replicas: 2 } }));
    expect(heads.get(receipt("web").identity)).not.toHaveProperty("digest");
  });

  test("keeps the newest receipt of a resource, and forgets what it is told to", async () => {
    await using ledger = await ledgerOf();
    await ledger.record([receipt()]);
    await ledger.record([{ ...receipt(), version: 4, returned: null }]);
    expect(await recordedIn(ledger)).toEqual([{ ...receipt(), version: 4, returned: null }]);
    await ledger.forget([receipt().identity, "team/none"]);
    expect(await recordedIn(ledger)).toEqual([]);
  });

  test("F77 remembers at which paths nothing is recorded, and which an intent ignores", async () => {
    const paths = [["env", "DB_PASSWORD"], ["replicas"]];
    await using ledger = await ledgerOf();
    await ledger.record([{ ...receipt(), unrecorded: paths }]);
    await ledger.begin({ ...intent(), ignored: paths });
    expect(await recordedIn(ledger)).toEqual([{ ...receipt(), unrecorded: paths }]);
    expect(await ledger.pending()).toEqual([{ ...intent(), ignored: paths, reply: null }]);
  });

  test("F76 merges what several runs learn, and forgets what is said to be nothing", async () => {
    const open = await ledgers();
    await using one = await open();
    await using other = await open();
    await one.storeFacts({ routes: { listApps: "no", putTeam: "yes" }, registers: true });
    await other.storeFacts({ routes: { listApps: null, listTeams: "yes" }, dryRun: "proven" });
    await one.storeFacts({ lease: { scope: "main", number: 7 }, released: ["team/a"] });
    await one.storeFacts({ lease: null, released: [] });
    const facts = { routes: { putTeam: "yes", listTeams: "yes" }, dryRun: "proven", registers: true, released: [] };
    expect(await one.facts()).toEqual(facts);
    expect(await other.facts()).toEqual(facts);
  });

  test("stores what was agreed to with the next write, whichever that is, and not before", async () => {
    const open = await ledgers();
    await using one = await open();
    await using other = await open();
    const agreed = async (): Promise<boolean | undefined> => (await other.facts()).configured;
    const writes = [
      () => one.record([receipt()]),
      () => one.forget([receipt().identity]),
      () => one.begin(intent()),
      () => one.close(intent().id, null),
      () => one.storeWaitingFacts(),
    ];
    for (const [nth, write] of writes.entries()) {
      const isConfigured = nth % 2 === 0;
      const before = await agreed();
      one.storeFactsWithNext({ configured: isConfigured });
      expect(await agreed()).toBe(before);
      await write();
      expect(await agreed()).toBe(isConfigured);
    }
    one.storeFactsWithNext({ configured: true });
    await one[Symbol.asyncDispose]();
    expect(await agreed()).toBe(true);
  });

  test("F80 opens an intent in the place of others, at once", async () => {
    await using ledger = await ledgerOf();
    await ledger.begin(intent("one"));
    await ledger.begin(intent("two"));
    await ledger.begin(intent("three"), ["one", "two"]);
    await ledger.begin({ ...intent("three"), deadline: 1 }, ["three"]);
    expect((await ledger.pending()).map(({ id, deadline }) => [id, deadline])).toEqual([["three", 1]]);
  });

  test("ends an intent, with the receipt of its effect where it had one", async () => {
    await using ledger = await ledgerOf();
    await ledger.begin({ ...intent("one"), identity: receipt().identity, kind: receipt().kind });
    await ledger.begin(intent("two"));
    await ledger.close("one", receipt());
    await ledger.close("two", null);
    expect(await ledger.pending()).toEqual([]);
    expect(await recordedIn(ledger)).toEqual([receipt()]);
  });

  test("gives a reply back byte by byte, whatever it is made of", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await using ledger = await ledgerOf();
    await ledger.begin(intent());
    await ledger.keepReply("intent-1", bytes);
    const [pending] = await ledger.pending();
    expect(Uint8Array.from(pending?.reply ?? [])).toEqual(bytes);
  });

  test("keeps servers apart", async () => {
    const open = await ledgers();
    await using one = await open("http://one");
    await one.record([receipt()]);
    await one.begin(intent());
    await one.storeFacts({ routes: {}, dryRun: "ignored", registers: false });
    await using other = await open("http://other");
    expect([await recordedIn(other), (await other.heads()).size, await other.pending()]).toEqual([[], 0, []]);
    expect(await other.facts()).toEqual({ routes: {}, dryRun: "unproven", registers: null });
  });

  test("is not changed by whoever changes what was given to it", async () => {
    await using ledger = await ledgerOf();
    const env = { DB_PASSWORD: "before" };
    await ledger.record([{ ...receipt(), written: { env } }]);
    env.DB_PASSWORD = "after";
    const [kept] = await recordedIn(ledger);
    expect(kept?.written).toEqual({ env: { DB_PASSWORD: "before" } });
  });

  const targets = async () => {
    const { access } = await create();
    return () => access().target();
  };
  const DAY = 24 * 3_600_000;
  const START = Date.parse("2027-03-01T12:00:00.000Z");
  const timeOf = (at: number) => new Date(at).toISOString();
  const pass = (at: number, more: Partial<PassRecord> = {}): PassRecord => ({
    startedAt: new Date(at).toISOString(),
    endedAt: new Date(at + 1000).toISOString(),
    commit: `c${at}`,
    result: "applied",
    reason: null,
    message: null,
    counts: { updated: 1 },
    ...more,
  });

  test("remembers nothing of its target at first", async () => {
    const target = await (await targets())();
    expect(await target.decisions()).toEqual({ holds: [], released: [] });
    expect([await target.status(), await target.passAt(START)]).toEqual([null, null]);
    expect(await target.passes({ limit: 10 })).toEqual({ entries: [], next: null });
  });

  test("has the decisions of people in their order, in every run", async () => {
    const open = await targets();
    const one = await open();
    const hold = (what: string) => ({ what, reason: "incident", until: "commit", content: null });
    await one.decide(() => ({ holds: [hold("team/b")], released: ["abcdef1"] }));
    const changed = await (await open()).decide(({ holds, released }) => ({
      holds: [...holds, hold("team/a")],
      released: [...released, "abcdef0"],
    }));
    const before = { holds: [hold("team/b")], released: ["abcdef1"] };
    const after = { holds: [hold("team/b"), hold("team/a")], released: ["abcdef1", "abcdef0"] };
    expect(changed).toEqual({ before, after });
    expect(await one.decisions()).toEqual(after);
  });

  test("loses no decision of two runs that decide at the same time", async () => {
    const open = await targets();
    const runs = await Promise.all(Array.from({ length: 8 }, open));
    await Promise.all(
      runs.map((run, nth) => run.decide(({ holds, released }) => ({ holds, released: [...released, `abcdef${nth}`] }))),
    );
    expect((await runs[0]?.decisions())?.released.toSorted()).toEqual(runs.map((_, nth) => `abcdef${nth}`));
  });

  test("changes no decision when the change fails", async () => {
    const target = await (await targets())();
    await target.decide(() => ({ holds: [], released: ["abcdef1"] }));
    const failing = target.decide(() => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await target.decisions()).toEqual({ holds: [], released: ["abcdef1"] });
  });

  test("has the last status, and the records of passes page by page, newest first", async () => {
    const open = await targets();
    const records = Array.from({ length: 5 }, (_, nth) => pass(START + nth * 60_000));
    const status = newStatus("prod", "platform");
    await (await open()).keep({ status, records: records.slice(0, 2) });
    await (await open()).keep({ status: { ...status, sync: "Synced" }, records: records.slice(2) });
    const target = await open();
    expect(await target.status()).toEqual({ ...status, sync: "Synced" });
    const first = await target.passes({ limit: 2 });
    expect(first.entries).toEqual([records[4], records[3]]);
    const second = await target.passes({ limit: 2, after: String(first.next) });
    expect(second.entries).toEqual([records[2], records[1]]);
    // What is added meanwhile moves no page.
    await target.keep({ status, records: [pass(START + DAY)] });
    expect(await target.passes({ limit: 2, after: String(second.next) })).toEqual({
      entries: [records[0]],
      next: null,
    });
  });

  test("has what the next pass is to know, until another pass changes it", async () => {
    const open = await targets();
    const status = newStatus("prod", null);
    expect(await (await open()).memory()).toEqual(NO_MEMORY);
    const memory = {
      appliedCommit: "c1",
      unfinished: ["team/ml"],
      lastFullPassAt: START,
      told: { notifications: { isBad: true } },
    };
    await (await open()).keep({ status, memory });
    await (await open()).keep({ status });
    expect(await (await open()).memory()).toEqual(memory);
    await (await open()).keep({ status, memory: { ...memory, appliedCommit: "c2", unfinished: null } });
    expect(await (await open()).memory()).toEqual({ ...memory, appliedCommit: "c2", unfinished: null });
  });

  test("has the commit whose writes have begun, until the memory of its pass is stored", async () => {
    const open = await targets();
    await (await open()).keepBegun("c1");
    expect(await (await open()).memory()).toEqual({ ...NO_MEMORY, begunCommit: "c1" });
    const memory = { ...NO_MEMORY, appliedCommit: "c1" };
    await (await open()).keep({ status: newStatus("prod", null), memory });
    await (await open()).keepBegun("c2");
    expect(await (await open()).memory()).toEqual({ ...memory, begunCommit: "c2" });
    await (await open()).keep({ status: newStatus("prod", null), memory });
    expect(await (await open()).memory()).toEqual(memory);
  });

  test("has one receipt for each resource, content and gate: the last one", async () => {
    const open = await targets();
    const gateReceipt = (more: Partial<GateReceipt>): GateReceipt => ({
      ...{ identity: "model-version/r/m", content: "c1", gate: "g1", name: "metric accuracy", at: timeOf(START) },
      ...{ verdict: "fail", score: 0.5, summary: "0.5" },
      ...more,
    });
    expect(await (await open()).gateReceipts("model-version/r/m")).toEqual([]);
    const other = gateReceipt({ identity: "chat_prompt/r/p", score: null });
    await (await open()).keepGateReceipts([gateReceipt({}), gateReceipt({ gate: "g2" }), other]);
    const later = gateReceipt({ verdict: "pass", score: 0.95, at: timeOf(START + 1000) });
    await (await open()).keepGateReceipts([later]);
    await (await open()).keepGateReceipts([gateReceipt({ content: "c2", at: timeOf(START + 2000) })]);
    await (await open()).keepGateReceipts([]);
    expect(await (await open()).gateReceipts("model-version/r/m")).toEqual([
      gateReceipt({ gate: "g2" }),
      later,
      gateReceipt({ content: "c2", at: timeOf(START + 2000) }),
    ]);
    expect(await (await open()).gateReceipts("chat_prompt/r/p")).toEqual([other]);
    expect((await (await open()).gateReceipts(null)).map(({ identity }) => identity)).toEqual([
      "chat_prompt/r/p",
      "model-version/r/m",
      "model-version/r/m",
      "model-version/r/m",
    ]);
  });

  test("keeps the newest receipts of gates", async () => {
    const open = await targets();
    const many = Array.from(
      { length: KEPT_GATE_RECEIPTS + 5 },
      (_, at): GateReceipt => ({
        ...{ identity: `chat_prompt/r/p${at}`, content: "c", gate: "g", name: "url", at: timeOf(START + at) },
        ...{ verdict: "pass", score: null, summary: "fine" },
      }),
    );
    await (await open()).keepGateReceipts(many);
    expect(await (await open()).gateReceipts("chat_prompt/r/p4")).toEqual([]);
    expect(await (await open()).gateReceipts("chat_prompt/r/p5")).toHaveLength(1);
  });

  test("has how far commits have come, which each process changes in one transaction", async () => {
    const open = await targets();
    expect(await (await open()).progress()).toEqual(NO_PROGRESS);
    const advanced = await (await open()).advance((before) => withBegun(before, "c1"));
    expect(advanced).toEqual({ commits: [], begun: "c1" });
    await (await open()).keep({ status: newStatus("prod", null) });
    expect(await (await open()).progress()).toEqual(advanced);
    const refused = (await open()).advance(() => {
      throw new Error("refused");
    });
    await expect(refused).rejects.toThrow("refused");
    expect(await (await open()).progress()).toEqual(advanced);
  });

  test("has what the patterns of a configuration stood for last", async () => {
    const open = await targets();
    expect(await (await open()).expansion()).toBeNull();
    for (const expansion of [[{ key: "a", items: [] }], []]) {
      await (await open()).keepExpansion(expansion);
      expect(await (await open()).expansion()).toEqual(expansion);
    }
  });

  test("has plans of pull requests, the latest first: one for each id, as long and as many as they are kept", async () => {
    const open = await targets();
    const planAt = (id: string, at: number, parts: PlanReply["parts"] = []): PlanReply => ({
      plan: {
        ...{ id, at: timeOf(at), forge: "github", repository: "ml/platform", pullRequest: 7, url: null },
        ...{ commit: "abcdef1", name: "default", verified: false, isGood: true, targets: 1, others: 0 },
        counts: { create: 0, update: 1, ensure: 0, block: 0, orphan: 0 },
      },
      ...{ parts, quiet: ["\u0000\u202e"], leftOut: 0 },
    });
    const always = timeOf(0);
    const ids = async (page: StoredPageRequest, since = always) => {
      const { entries, next } = await (await open()).reviewedPlans(since, page);
      return { ids: entries.map(({ id }) => id), next };
    };
    expect(await ids({ limit: 5 })).toEqual({ ids: [], next: null });
    expect(await (await open()).reviewedPlan("a", always)).toBeNull();
    for (const [id, at] of [
      ["b", START],
      ["a", START],
      ["c", START + 1000],
    ] as const)
      expect(await (await open()).keepReviewedPlan(planAt(id, at))).toBe(false);
    const first = await ids({ limit: 2 });
    expect(first).toEqual({ ids: ["c", "b"], next: `${timeOf(START)}_b` });
    // What is sent again comes first, and moves no page.
    const again = planAt("b", START + 2000);
    expect(await (await open()).keepReviewedPlan(again)).toBe(true);
    expect(await (await open()).reviewedPlan("b", always)).toEqual(again);
    expect(await ids({ limit: 2, after: String(first.next) })).toEqual({ ids: ["a"], next: null });
    expect(await ids({ limit: 5 })).toEqual({ ids: ["b", "c", "a"], next: null });
    expect(await ids({ limit: 5 }, timeOf(START + 1000))).toEqual({ ids: ["b", "c"], next: null });
    expect(await (await open()).reviewedPlan("a", timeOf(START + 1000))).toBeNull();
    // The oldest go, by their number and by their age.
    const target = await open();
    for (let nth = 0; nth < KEPT_PLANS.count - 2; nth += 1)
      await target.keepReviewedPlan(planAt(`n${nth}`, START + 3000 + nth));
    expect((await ids({ limit: 500 })).ids).toHaveLength(KEPT_PLANS.count);
    expect((await ids({ limit: 500 })).ids.slice(-2)).toEqual(["b", "c"]);
    const late = START + 3000 + KEPT_PLANS.ms;
    await target.keepReviewedPlan(planAt("late", late));
    expect((await ids({ limit: 500 })).ids).toEqual([
      "late",
      ...Array.from({ length: KEPT_PLANS.count - 2 }, (_, nth) => `n${nth}`).toReversed(),
    ]);
  });

  test("has what is cached about the same, until somebody replaces it, and gives it once to who has it", async () => {
    const { access, keyText } = await create();
    const cacheOf = async (about: string) => (await access().open({ keyText })).cache("one", about);
    const [first, second] = [await cacheOf("this"), await cacheOf("this")];
    expect(await first.readNew()).toBeNull();
    const parts = ["a", "\u00e9", "x".repeat(9_000_000)];
    function* content() {
      yield* parts;
    }
    expect(await first.write(content())).toBeNull();
    expect(await first.readNew()).toBeNull();
    expect(await second.readNew()).toBe(parts.join(""));
    expect(await second.readNew()).toBeNull();
    expect(await (await cacheOf("other")).readNew()).toBeNull();
    expect(await (await cacheOf("this")).readNew()).toBe(parts.join(""));
  });

  test("finds the pass that ran at a time, not a commit that it superseded", async () => {
    const target = await (await targets())();
    const superseded = pass(START, { commit: "older", result: "superseded" });
    await target.keep({ status: newStatus("prod", null), records: [superseded, pass(START), pass(START + 60_000)] });
    expect(await target.passAt(START + 500)).toEqual(pass(START));
    expect(await target.passAt(START + 60_000)).toEqual(pass(START + 60_000));
    for (const at of [START - 1, START + 30_000, START + 61_001]) expect(await target.passAt(at)).toBeNull();
  });

  test("has what people asked for among the passes, and takes it for none", async () => {
    const target = await (await targets())();
    const status = newStatus("prod", null);
    await target.keep({ status, records: [pass(START)] });
    const action = { name: "hold", by: "Ada", key: "11112222" } as const;
    const asked = { ...pass(START + 200, { result: "action" }), endedAt: new Date(START + 200).toISOString(), action };
    await target.keepRecords([asked]);
    await target.keep({ status, records: [pass(START + 60_000)] });
    expect((await target.passes({ limit: 10 })).entries).toEqual([pass(START + 60_000), asked, pass(START)]);
    expect(await target.passAt(START + 100)).toEqual(pass(START));
    expect(await target.passAt(START + 200)).toEqual(pass(START));
    expect(await target.status()).toEqual(status);
  });

  const asked = (key: string, startedAt = START): TakenAction => {
    const failure = { code: "interrupted", message: "its process has ended" } as const;
    const record = { ...pass(startedAt), commit: null, result: "action", reason: "Interrupted" } as const;
    return { key, content: "one", interrupted: { record, failure } };
  };

  test("lets one of those who ask for the same action at the same time carry it out, and tells the others its end", async () => {
    const open = await targets();
    const target = await open();
    const time = { now: START, forMs: 60_000 };
    for (let nth = 0; nth < 20; nth += 1) {
      const takers = await Promise.all([1, 2, 3, 4].map(() => open()));
      const turns = await Promise.all(takers.map((one) => one.takeAction(asked(`key ${nth}`), time)));
      expect(turns.map(({ is }) => is).toSorted()).toEqual(["running", "running", "running", "taken"]);
    }
    const again = { ...asked("key 7"), content: "other" };
    await target.renewAction("key 7", { now: START, forMs: 1_000_000 });
    expect(await target.takeAction(again, time)).toEqual({ is: "running", content: "one" });
    const ended = { record: { ...asked("").interrupted.record, reason: null }, failure: null };
    await target.endAction("key 7", ended);
    expect(await (await open()).takeAction(again, time)).toEqual({ is: "ended", content: "one", ...ended });
    expect((await target.passes({ limit: 10 })).entries).toEqual([ended.record]);
  });

  test("records an action whose process says nothing more as interrupted, and gives it to nobody else", async () => {
    const target = await (await targets())();
    await target.takeAction(asked("dead"), { now: START, forMs: -1 });
    await target.takeAction(asked("alive"), { now: START, forMs: 60_000 });
    const turn = await target.takeAction(asked("dead"), { now: START, forMs: 60_000 });
    const { record, failure } = asked("dead").interrupted;
    expect(turn).toMatchObject({ is: "ended", failure, record: { ...record, endedAt: expect.stringMatching(/Z$/) } });
    expect((await target.passes({ limit: 10 })).entries).toMatchObject([{ reason: "Interrupted" }]);
    expect(await target.takeAction(asked("alive"), { now: START, forMs: 60_000 })).toMatchObject({ is: "running" });
  });

  test("forgets an action after 90 days", async () => {
    const target = await (await targets())();
    const time = { now: START, forMs: 60_000 };
    await target.takeAction(asked("old"), time);
    await target.endAction("old", { record: pass(START), failure: null });
    await target.takeAction(asked("later", START + 89 * DAY), time);
    expect(await target.takeAction(asked("old"), time)).toMatchObject({ is: "ended" });
    await target.takeAction(asked("latest", START + 91 * DAY), time);
    expect(await target.takeAction(asked("old", START + 91 * DAY), time)).toMatchObject({ is: "taken" });
  });

  test("keeps a bounded number of records, and none that is older than 90 days", async () => {
    const target = await (await targets())();
    const status = newStatus("prod", null);
    await target.keep({ status, records: [pass(START)] });
    await target.keep({ status, records: [pass(START + 89 * DAY)] });
    expect((await target.passes({ limit: 10 })).entries).toHaveLength(2);
    await target.keep({ status, records: [pass(START + 91 * DAY)] });
    expect((await target.passes({ limit: 10 })).entries).toEqual([pass(START + 91 * DAY), pass(START + 89 * DAY)]);
    const many = Array.from({ length: KEPT_PASSES.count }, (_, nth) => pass(START + 92 * DAY + nth));
    await target.keep({ status, records: many });
    const { entries, next } = await target.passes({ limit: KEPT_PASSES.count });
    expect([entries.length, entries.at(-1)?.commit, next]).toEqual([KEPT_PASSES.count, many[0]?.commit, null]);
  });

  const seen = (at: number, statuses: readonly Partial<ResourceStatus>[], more: Partial<ResourcesSeen> = {}) => ({
    status: newStatus("prod", null),
    resources: {
      at: new Date(at).toISOString(),
      commit: "c1",
      isWhole: true,
      statuses: statuses.map((one): ResourceStatus => {
        return { identity: "team/a", state: "unchanged", rollout: null, hasDrifted: false, why: null, ...one };
      }),
      ...more,
    },
  });
  const PAGE = { limit: 100 };

  test("has an event of a resource for each write and each change of what it lacks, and none while it stays", async () => {
    const target = await (await targets())();
    const failed = { state: "failed", why: "the server said no" } as const;
    await target.keep(seen(START, [{ state: "created" }, { identity: "team/b" }]));
    await target.keep(
      seen(START + 1000, [
        { state: "updated", hasDrifted: true },
        { identity: "team/b", ...failed },
      ]),
    );
    await target.keep(seen(START + 2000, [{}, { identity: "team/b", ...failed }]));
    await target.keep(seen(START + 3000, [{}, { identity: "team/b" }]));
    await target.keep(seen(START + 4000, [{}, { identity: "team/b" }]));
    const shown = async (filter: EventFilter) =>
      (await target.events(filter, PAGE)).entries.map(({ at, identity, state }) => [
        Date.parse(at) - START,
        identity,
        state,
      ]);
    expect(await shown({})).toEqual([
      [3000, "team/b", "unchanged"],
      [1000, "team/b", "failed"],
      [1000, "team/a", "updated"],
      [0, "team/a", "created"],
    ]);
    expect(await shown({ identity: "team/a" })).toEqual([
      [1000, "team/a", "updated"],
      [0, "team/a", "created"],
    ]);
    expect(await shown({ hasDrifted: true })).toEqual([[1000, "team/a", "updated"]]);
    expect(await shown({ at: new Date(START + 1000).toISOString() })).toEqual([
      [1000, "team/b", "failed"],
      [1000, "team/a", "updated"],
    ]);
    expect(await shown({ at: new Date(START + 2000).toISOString() })).toEqual([]);
    const first = await target.events({}, { limit: 3 });
    expect(first.entries).toHaveLength(3);
    expect((await target.events({}, { limit: 3, after: String(first.next) })).entries).toHaveLength(1);
  });

  test("has one event of a resource that is invalid at two places, while it stays so", async () => {
    const target = await (await targets())();
    const invalid = ["a.yaml:1", "b.yaml:1"].map(
      (place) => ({ state: "invalid", why: `${place}: declared twice` }) as const,
    );
    await target.keep(seen(START, invalid));
    await target.keep(seen(START + 1000, invalid));
    const { entries } = await target.events({}, PAGE);
    expect(entries.map(({ at, why }) => [Date.parse(at) - START, why])).toEqual([[0, "a.yaml:1: declared twice"]]);
    expect((await target.unsettled({}, PAGE)).entries).toEqual(entries);
  });

  test("lists what is not as declared by state, until it is, or until a whole pass no longer finds it", async () => {
    const open = await targets();
    const target = await open();
    const statuses = ["d", "b", "c", "a"].map((name) => ({ identity: `team/${name}`, state: "blocked" }) as const);
    await target.keep(seen(START, [...statuses, { identity: "team/e", state: "invalid", why: "a.yaml:1: no YAML" }]));
    const list = async (filter: { readonly state?: ResourceState } = {}, page: StoredPageRequest = PAGE) =>
      (await (await open()).unsettled(filter, page)).entries.map(({ identity }) => identity);
    expect(await list()).toEqual(["team/a", "team/b", "team/c", "team/d", "team/e"]);
    expect(await list({ state: "invalid" })).toEqual(["team/e"]);
    const { next } = await target.unsettled({ state: "blocked" }, { limit: 3 });
    expect(next).toBe("team/c");
    expect(await list({ state: "blocked" }, { limit: 3, after: "team/c" })).toEqual(["team/d"]);
    await target.keep(seen(START + 1000, [{ identity: "team/a" }], { isWhole: false }));
    expect(await list()).toEqual(["team/b", "team/c", "team/d", "team/e"]);
    await target.keep(seen(START + 2000, [{ identity: "team/b", state: "blocked" }]));
    expect(await list()).toEqual(["team/b"]);
    // It has been so since the first pass.
    expect((await target.unsettled({}, PAGE)).entries[0]?.at).toBe(new Date(START).toISOString());
  });

  test("says whose drift it was, and when it ended: with the pass that has overwritten it, or when something else became of it", async () => {
    const target = await (await targets())();
    const changedBy = { subject: "user:ada@example.com", subjectId: null, at: new Date(START - 500).toISOString() };
    const found = { state: "to-update", hasDrifted: true, changedBy } as const;
    await target.keep(
      seen(START, [
        { state: "updated", hasDrifted: true },
        { identity: "team/b", ...found },
      ]),
    );
    await target.keep(seen(START + 1000, [{}, { identity: "team/b", ...found }]));
    const ends = async (page: StoredPageRequest = PAGE) => {
      const { entries, next } = await target.drifts(page);
      return [
        ...entries.map(({ event, endedAt }) => [
          event.identity,
          event.changedBy?.subject ?? null,
          endedAt && Date.parse(endedAt) - START,
        ]),
        next !== null,
      ];
    };
    expect(await ends()).toEqual([["team/b", "user:ada@example.com", null], ["team/a", null, 0], false]);
    await target.keep(seen(START + 2000, [{}, { identity: "team/b" }]));
    expect(await ends({ limit: 1 })).toEqual([["team/b", "user:ada@example.com", 2000], true]);
    const { next } = await target.drifts({ limit: 1 });
    expect(await ends({ limit: 1, after: String(next) })).toEqual([["team/a", null, 0], false]);
  });

  test("counts drift by day, with the resources that it concerned", async () => {
    const target = await (await targets())();
    const drifted = { state: "updated", hasDrifted: true } as const;
    await target.keep(seen(START, [drifted, { identity: "team/b", ...drifted }]));
    await target.keep(seen(START + 1000, [drifted]));
    await target.keep(seen(START + DAY, [drifted]));
    await target.keep(seen(START + 2 * DAY, [{ state: "updated" }]));
    const days = [
      { day: "2027-03-02", events: 1, resources: 1 },
      { day: "2027-03-01", events: 3, resources: 2 },
    ];
    expect(await target.driftByDay(PAGE)).toEqual({ entries: days, next: null });
    expect(await target.driftByDay({ limit: 1 })).toEqual({ entries: [days[0]], next: "2027-03-02" });
    expect(await target.driftByDay({ limit: 1, after: "2027-03-02" })).toEqual({ entries: [days[1]], next: null });
  });

  const changedField = (after: string): WrittenChanges => ({
    fields: [{ path: "/image", label: "image", before: null, after, cause: "manifest", diff: null }],
    leftOut: 0,
    cut: 0,
  });

  test("has what each write changed, given where it is asked for", async () => {
    const open = await targets();
    const target = await open();
    const progressing = { state: "updated", rollout: "failed", why: "no replica" } as const;
    const first = new Map([["team/a", changedField("v1")]]);
    await target.keep(seen(START, [progressing, { identity: "team/b", state: "created" }], { changed: first }));
    // The resource is as it was, and the write is another one.
    const second = new Map([["team/a", changedField("v2")]]);
    await target.keep(seen(START + 1000, [progressing, { identity: "team/b" }], { changed: second }));
    await target.keep(seen(START + 2000, [progressing, { identity: "team/b" }], { changed: new Map() }));
    const shown = async (filter: EventFilter) =>
      (await (await open()).events(filter, PAGE)).entries.map(({ at, identity, changed }) => [
        Date.parse(at) - START,
        identity,
        changed?.fields[0]?.after ?? null,
      ]);
    const withChanges = true;
    expect(await shown({ withChanges })).toEqual([
      [1000, "team/a", "v2"],
      [0, "team/b", null],
      [0, "team/a", "v1"],
    ]);
    expect(await shown({ withChanges, isKnown: true })).toEqual([
      [1000, "team/a", "v2"],
      [0, "team/a", "v1"],
    ]);
    expect((await shown({})).map(([, , after]) => after)).toEqual([null, null, null]);
    const page = await target.events({ withChanges, isKnown: true }, { limit: 1 });
    expect(page.entries[0]?.changed).toEqual(changedField("v2"));
    const rest = await target.events({ withChanges, isKnown: true }, { limit: 1, after: String(page.next) });
    expect([rest.entries[0]?.changed, rest.next]).toEqual([changedField("v1"), null]);
  });

  test("keeps what writes changed as long as their events, and a bounded number of characters", async () => {
    const target = await (await targets())();
    const write = (at: number, after: string) =>
      target.keep(seen(at, [{ state: "updated" }], { changed: new Map([["team/a", changedField(after)]]) }));
    const kept = async () => {
      const lengths: number[] = [];
      let after: string | null | undefined;
      do {
        const page = await target.events({ withChanges: true }, { limit: 4, ...(after && { after }) });
        lengths.push(...page.entries.map(({ changed }) => String(changed?.fields[0]?.after).length));
        after = page.next === null ? null : String(page.next);
      } while (after !== null);
      return lengths;
    };
    await write(START, "v");
    await write(START + 92 * DAY, "v2");
    expect(await kept()).toEqual([2]);
    // In parts: a database answers within seconds, and a slow one may not write all of it in that time.
    const parts = Array.from({ length: 25 }, () => KEPT_CHANGES / 25 - 1000);
    for (const [nth, length] of parts.entries()) await write(START + 92 * DAY + 1000 + nth, "x".repeat(length));
    expect(await kept()).toEqual([...parts, 2]);
    await write(START + 92 * DAY + 2000, "y".repeat(30_000));
    await write(START + 92 * DAY + 3000, "v3");
    // The events stay.
    expect(await kept()).toEqual([2, 30_000, ...parts, "undefined".length]);
  });

  test("keeps events for 90 days, and as many as its bound", async () => {
    const target = await (await targets())();
    await target.keep(seen(START, [{ state: "created" }]));
    await target.keep(seen(START + 92 * DAY, [{ state: "updated" }]));
    expect((await target.events({}, PAGE)).entries.map(({ state }) => state)).toEqual(["updated"]);
  });
});
