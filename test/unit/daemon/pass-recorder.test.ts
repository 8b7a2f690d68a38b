import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPassRecorder } from "../../../src/daemon/pass-recorder.ts";
import { createPassWatch } from "../../../src/daemon/pass-watch.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { stateAt } from "../../../src/state/open-state.ts";
import type { StateAccess } from "../../../src/state/state.ts";
import { NO_MEMORY } from "../../../src/state/target-store.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { machine } from "../../support/machine.ts";
import { memoryState } from "../../support/memory-state.ts";
import { observedPass } from "../../support/observed-pass.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";

const times = { startedAt: 1, endedAt: 2, nextAt: null, wanted: null };

/** A recorder of the target `prod` in a folder. */
function recorderIn(folder: string, { target }: Pick<StateAccess, "target">, told: string[] = []) {
  return createPassRecorder({
    target: "prod",
    source: null,
    state: { folder, target, onForgotten: (what, why) => told.push(`${what}: ${why}`) },
    now: () => 0,
    standsBy: () => null,
    between: async () => [],
    machine: null,
  });
}

test("a pass that cannot be stored is no failure: it is told", async () => {
  const folder = await temporaryFolder();
  await using state = stateAt(folder, machine);
  const told: string[] = [];
  const recorder = recorderIn(folder, state, told);
  const watch = createPassWatch();
  await recorder.onPassEnd(watch.end(times), NO_MEMORY);
  expect(told).toEqual([]);
  await rm(folder, { recursive: true });
  await recorder.onPassEnd(watch.end(times), NO_MEMORY);
  expect(told).toEqual([`the history of passes: ${folder}/ledger.db was replaced or removed while it was in use`]);
});

test("a rollout that ends after its pass, or before the pass does, is an event of its resource", async () => {
  const state = memoryState();
  const recorder = createPassRecorder({
    target: "prod",
    source: null,
    state: { folder: "state", target: state.target, onForgotten: () => undefined },
    now: () => 5_000,
    standsBy: () => null,
    between: async () => [],
    machine: null,
  });
  const outcome = (identity: string, result: "updated" | "created") =>
    ({ identity, result, rollout: "progressing", error: null }) as const;
  const ended = (identity: string, rollout: "failed" | "succeeded") =>
    recorder.observer.emit({ what: "rolled-out", identity, rollout });
  ended("service/early", "succeeded");
  const event = sampleApplyEvent([outcome("service/late", "updated"), outcome("service/early", "created")]);
  await recorder.onPassEnd(observedPass({ emit: () => undefined, failure: () => undefined }, [event]), NO_MEMORY);
  ended("service/late", "failed");
  await recorder.onPassEnd(observedPass({ emit: () => undefined, failure: () => undefined }, []), NO_MEMORY);
  const store = await state.target();
  const { entries } = await store.events({}, { limit: 10 });
  expect(entries.map(({ identity, state, rollout }) => [identity, state, rollout])).toEqual([
    ["service/late", "updated", "failed"],
    ["service/early", "created", "succeeded"],
    ["service/late", "updated", "progressing"],
  ]);
  expect((await store.unsettled({}, { limit: 10 })).entries.map(({ identity }) => identity)).toEqual(["service/late"]);
});

test("while the database does not answer, the status is what was read last, but unknown, and since when", async () => {
  const state = memoryState();
  let lostSince: number | null = null;
  const read = async <Read>(work: () => Promise<Read>) => (lostSince === null ? work() : null);
  const recorder = createPassRecorder({
    target: "prod",
    source: null,
    state: { folder: "state", target: state.target, onForgotten: () => undefined },
    now: () => 5_000,
    standsBy: () => null,
    between: async () => [],
    machine: "one/1",
    database: { lostSince: () => lostSince, read, [Symbol.asyncDispose]: async () => {} },
  });
  await recorder.onPassEnd(observedPass(recorder.observer, [sampleApplyEvent([])]), NO_MEMORY);
  const before = await recorder.status();
  expect(before).toMatchObject({ sync: "Synced", lastPass: { machine: "one/1" } });
  lostSince = 0;
  const message = "its database has not answered since 1970-01-01T00:00:00Z";
  const unread = { sync: "Unknown", condition: "Reconciling", reason: "StateUnreadable", message, nextPassAt: null };
  expect(await recorder.status()).toEqual({ ...before, ...unread });
  expect(await recorder.latest()).toEqual([]);
  lostSince = null;
  expect(await recorder.status()).toEqual(before);
});

test("until its first pass has ended, a daemon shows what was stored last, as it may be outdated", async () => {
  const folder = await temporaryFolder();
  await using state = stateAt(folder, machine);
  const lastPass = { startedAt: "2026-11-27T11:00:00.000Z", endedAt: "2026-11-27T11:00:01.000Z", commit: "c1" };
  const record = { ...lastPass, result: "applied", reason: null, message: null, counts: { unchanged: 3 } } as const;
  const stored = { ...newStatus("prod", null), sync: "Synced", condition: "Ready", reason: null } as const;
  const store = await state.target();
  await store.keep({ status: { ...stored, appliedRevision: "c1", lastPass: record }, records: [record] });
  await store.decide((decisions) => ({
    ...decisions,
    holds: [{ what: "team/ml", reason: "incident", until: "commit" }],
  }));
  const recorder = recorderIn(folder, state);
  expect(await recorder.status()).toMatchObject({
    sync: "Unknown",
    condition: "Reconciling",
    reason: "Starting",
    appliedRevision: "c1",
    lastPass: record,
    held: [expect.stringContaining("team/ml")],
  });
  expect(await recorder.latest()).toEqual([record]);
  await recorder.onPassEnd(createPassWatch().end(times), NO_MEMORY);
  expect((await recorder.status()).appliedRevision).toBe("c1");
  expect(await recorder.latest()).toHaveLength(2);
});

test("the status of a daemon is shown while its state cannot be read", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "ledger.db"), "no database", { mode: 0o600 });
  await using state = stateAt(folder, machine);
  const recorder = recorderIn(folder, state);
  expect(await recorder.status()).toEqual(newStatus("prod", null));
  expect(await recorder.latest()).toEqual([]);
  await recorder.onPassEnd(createPassWatch().end(times), NO_MEMORY);
  expect(await recorder.status()).toMatchObject({ lastPass: { result: expect.any(String) }, held: [] });
});

test("what the next pass is to know is stored with the status of a pass", async () => {
  const state = memoryState();
  const recorder = recorderIn("state", state);
  const memory = { appliedCommit: "c1", unfinished: ["team/ml"], lastFullPassAt: 1, told: {} };
  await recorder.onPassEnd(createPassWatch().end(times), memory);
  expect(await (await state.target()).memory()).toEqual(memory);
});
