import { expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { sharedExamination } from "../../src/commands/targets/stage-orders.ts";
import { Secret } from "../../src/contract/secret.ts";
import type { OutcomeResult } from "../../src/core/report/report.ts";
import { stagesOf } from "../../src/core/stages/stages.ts";
import { type ExaminedCommit, NO_PROGRESS, unseen } from "../../src/core/stages/target-progress.ts";
import { endHold } from "../../src/daemon/carry-out.ts";
import { newStatus } from "../../src/daemon/status-after-pass.ts";
import { createOrder } from "../../src/engine/order/target-order.ts";
import type { Target } from "../../src/engine/target.ts";
import { databaseStateAt } from "../../src/state/open-state.ts";
import type { StateAccess, TargetState } from "../../src/state/state.ts";
import { NO_MEMORY } from "../../src/state/target-store.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { memoryState } from "../support/memory-state.ts";
import { randomFrom } from "../support/random.ts";
import { sampleApplyEvent } from "../support/sample-apply-event.ts";
import { databaseOf } from "../support/test-database.ts";

const run = { clock: systemClock, stopping: new AbortController().signal };
const HEALTHY: ExaminedCommit = { isApplied: true, health: "healthy", why: null, content: "one" };
const follows = "main of https://git.example.com/platform";
const MEMBERS = ["a", "b", "c"].map((name) => ({ name, after: [], stage: null, follows }));

type Use = {
  readonly configuration?: string;
  readonly isWatched?: boolean;
  readonly isAllowed?: boolean;
  readonly after?: string;
  readonly clock?: typeof systemClock;
  readonly maxGapMs?: number;
};

/** Two targets of which one may change at once; each order that is made is as one of another process. */
function targets(stateOf: (name: string) => StateAccess) {
  const live = new Map<string, ExaminedCommit>();
  const stateAs = (name: string) => stateOf(name) as TargetState;
  const order = (name: string, use: Use = {}) => {
    const {
      configuration = "one",
      isWatched = true,
      isAllowed = false,
      after,
      clock = systemClock,
      maxGapMs = 1000,
    } = use;
    const members =
      after === undefined
        ? MEMBERS
        : [
            { ...MEMBERS[0], name: after },
            { ...MEMBERS[1], name, after: [after] },
          ];
    const stage = stagesOf(members as typeof MEMBERS).find((one) => one.targets.includes(name));
    if (stage === undefined) throw new TypeError(name);
    const state = stateAs(name);
    const other = (one: string) =>
      ({
        ...{ state: one === name ? state : stateAs(one), rules: () => ({ rolloutTimeoutMs: 1000 }) },
        source: { config: { repository: {} } },
      }) as unknown as Target;
    const examine = async (one: string) => live.get(one) ?? unseen("nothing there");
    return createOrder(
      { name, state, rule: { when: "healthy", soakMs: 0 }, isWatched, isAllowed, maxGapMs, configuration },
      {
        ...{
          stage,
          maxUpdate: after === undefined ? 1 : null,
          isFollowed: false,
          other,
          examine,
          examineOnce: examine,
        },
        ...{ inTurn: (work) => work(), onObserved: () => {} },
      },
      clock,
    );
  };
  const begun = async (name: string) => (await (await stateAs(name).target()).progress()).begun;
  return { order, live, begun, state: stateAs };
}

/** Targets whose states are in memory; each access to what they have recorded takes some time. */
function inMemory(delay: () => Promise<void> = async () => {}) {
  const states = new Map<string, StateAccess>();
  return targets((name) => {
    const state = states.get(name) ?? delayed(memoryState(), delay);
    states.set(name, state);
    return state;
  });
}

function delayed(state: StateAccess, delay: () => Promise<void>): StateAccess {
  return {
    ...state,
    target: async () => {
      const store = await state.target();
      return {
        ...store,
        progress: async () => {
          await delay();
          return store.progress();
        },
        advance: async (change) => {
          await delay();
          const after = await store.advance(change);
          await delay();
          return after;
        },
      };
    },
  };
}

const passOf = (commit: string, result: OutcomeResult) => ({ commit, applied: sampleApplyEvent([{ result }]) });

test.each<[OutcomeResult, string | null]>([
  ["skipped", null],
  ["blocked", null],
  ["updated", "c2"],
  ["failed", "c2"],
  ["unknown", "c2"],
])("a pass whose step is %s keeps its place only if something was sent", async (result, kept) => {
  const { order, begun } = inMemory();
  const a = order("a");
  expect(await a.choose(["c2"], run)).toBe("c2");
  await expect(order("b").choose(["c2"], run)).rejects.toThrow(/a: applies commit c2, and only 1 of the stage/);
  await a.observe(passOf("c2", result), run);
  expect(await begun("a")).toBe(kept);
});

test("a freeze that begins within the rollout keeps the place of what was sent", async () => {
  const { order, begun } = inMemory();
  const a = order("a");
  await a.choose(["c2"], run);
  await a.observe(passOf("c2", "updated"), run);
  await a.choose(["c2"], run);
  await a.observe(passOf("c2", "skipped"), run);
  expect(await begun("a")).toBe("c2");
});

test("a place is given back once the target is whole and healthy, also with another commit than the one that took it", async () => {
  const { order, begun, live } = inMemory();
  const a = order("a");
  await a.choose(["c2"], run);
  await a.observe({ commit: "c2", applied: null }, run);
  expect(await begun("a")).toBe("c2");
  live.set("a", HEALTHY);
  // c2 is gone from the branch, and the daemon is at c1 again.
  await a.observe({ commit: "c1", applied: null }, run);
  expect(await begun("a")).toBeNull();
  expect(await order("b").choose(["c1"], run)).toBe("c1");
});

test("the place of a command that was killed is given back by a release of its stage, but for one that a process writes", async () => {
  const { order, begun, state } = inMemory();
  await order("a", { isWatched: false }).require("c2", run);
  expect(await begun("a")).toBe("c2");
  expect(await endHold("stage/first", { ...state("a"), isLocked: async () => true }, 0)).toBe(false);
  expect(await begun("a")).toBe("c2");
  expect(await endHold("stage/first", state("a"), 0)).toBe(true);
  expect(await endHold("stage/first", state("a"), 0)).toBe(false);
  expect(await order("b").choose(["c2"], run)).toBe("c2");
});

test("time that two processes of a fleet have observed counts once", async () => {
  const { order, live, state } = inMemory();
  live.set("a", HEALTHY);
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  const processes = [order("a", { clock }), order("a", { clock })];
  for (const nth of [0, 1, 2, 3, 4, 5, 6]) {
    now = nth * 500;
    await processes[nth % 2]?.observe({ commit: "c1", applied: null }, run);
  }
  const { commits } = await (await state("a").target()).progress();
  expect(commits.at(-1)?.healthyMs).toBe(3000);
});

test("what a person has allowed goes on though its apply has failed, and a newer commit waits", async () => {
  const { order, state } = inMemory();
  const use = { after: "staging", isWatched: false };
  const chosen = order("prod", { ...use, isAllowed: true });
  await chosen.require("c2", run);
  expect(chosen.overridden()).toBe("staging: has not applied commit c2");
  await chosen.observe(passOf("c2", "skipped"), run);
  await expect(order("prod", use).require("c2", run)).rejects.toThrow(/target prod waits/);
  await chosen.observe(passOf("c2", "failed"), run);
  await order("prod", use).require("c2", run);
  expect(await order("prod", { after: "staging" }).choose(["c3", "c2", "c1"], run)).toBe("c2");
  await expect(order("prod", use).require("c3", run)).rejects.toThrow(/staging: has not applied commit c3/);
  expect(await (await state("prod").target()).progress()).toEqual({
    ...NO_PROGRESS,
    allowed: "c2",
    configuration: "one",
  });
});

test("a commit that was applied or allowed must pass again with another configuration", async () => {
  const { order, state } = inMemory();
  const use = { after: "staging", isWatched: false };
  const prod = (configuration: string, isAllowed = false) => order("prod", { ...use, configuration, isAllowed });
  const allowed = prod("one", true);
  await allowed.require("c1", run);
  await allowed.observe(passOf("c1", "updated"), run);
  await (await state("prod").target()).keep({
    ...{ status: { ...newStatus("prod", null), appliedRevision: "c1" } },
    ...{ records: [], memory: { ...NO_MEMORY, appliedCommit: "c1" } },
  });
  await prod("one").require("c1", run);
  expect(await prod("one").isReconfigured()).toBe(false);
  expect(await prod("two").isReconfigured()).toBe(true);
  await expect(prod("two").require("c1", run)).rejects.toThrow(/staging: has not applied commit c1/);
  expect(await prod("two").warnings("c1", run)).toMatchObject([{ code: "order-not-met" }]);
  // A freeze that leaves out all of it does not count as applied.
  await prod("two", true).observe(passOf("c1", "skipped"), run);
  await expect(prod("two").require("c1", run)).rejects.toThrow(/target prod waits/);
  await prod("two", true).observe(passOf("c1", "unchanged"), run);
  await prod("two").require("c1", run);
});

test("what several ask for at once is read once, and read again for who asks later", async () => {
  const read: string[] = [];
  const examine = sharedExamination(async (name, commit) => {
    read.push(`${name} ${commit}`);
    return HEALTHY;
  });
  const ask = () => Promise.all(["x", "x", "y"].map((name) => examine(name, "c1", run)));
  await ask();
  expect(read).toEqual(["x c1", "y c1"]);
  await ask();
  expect(read).toEqual(["x c1", "y c1", "x c1", "y c1"]);
});

test("of processes that take a place at the same time one gets it, and never two", async () => {
  const random = randomFrom(1);
  const turns = async (most: number): Promise<void> => {
    for (let left = Math.floor(random() * (most + 1)); left > 0; left -= 1) await Promise.resolve();
  };
  const clock = { ...systemClock, sleep: (milliseconds: number) => turns(milliseconds) };
  for (let nth = 0; nth < 300; nth += 1) {
    const { order, begun } = inMemory(() => turns(8));
    const takes = MEMBERS.map(async ({ name }) => {
      await turns(20);
      return order(name, { clock }).choose(["c2"], { ...run, clock });
    });
    const ends = await Promise.allSettled(takes);
    const places = await Promise.all(MEMBERS.map(({ name }) => begun(name)));
    const taken = ends.map(({ status }) => (status === "fulfilled" ? "c2" : null));
    expect([nth, places, taken.filter((one) => one !== null)]).toEqual([nth, taken, ["c2"]]);
  }
});

test("two processes on one database keep to one place, and count the time between their observations", async ({
  skip,
}) => {
  if (!inject("postgres")) return skip("it needs a database: the same test runs on PostgreSQL");
  const folder = await temporaryFolder();
  const address = new Secret((await databaseOf(folder, "template1")) ?? "");
  const process = () =>
    targets((target) => {
      const access = databaseStateAt({ address, target, folder }, machine);
      onTestFinished(() => access[Symbol.asyncDispose]());
      return access;
    });
  const [one, two] = [process(), process()];
  await one.order("a").choose(["c2"], run);
  const b = two.order("b");
  await expect(b.choose(["c2"], run)).rejects.toThrow(/a: applies commit c2, and only 1 of the stage/);
  one.live.set("a", HEALTHY);
  await one.order("a").observe(passOf("c2", "updated"), run);
  expect(await b.choose(["c2"], run)).toBe("c2");
  expect(await one.begun("b")).toBe("c2");
  await expect(one.order("a").choose(["c3"], run)).rejects.toThrow(/b: applies commit c2/);
  // Each process observes the target after another one has.
  two.live.set("a", HEALTHY);
  const soaked = async (maxGapMs: number) => {
    for (const { order } of [one, two]) await order("a", { maxGapMs }).observe({ commit: "c2", applied: null }, run);
    return (await (await one.state("a").target()).progress()).commits.at(-1)?.healthyMs ?? 0;
  };
  expect(await soaked(0)).toBe(0);
  await expect.poll(() => soaked(3_600_000)).toBeGreaterThan(0);
});
