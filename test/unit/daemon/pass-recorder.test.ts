import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { createPassRecorder } from "../../../src/daemon/pass-recorder.ts";
import { createPassWatch } from "../../../src/daemon/pass-watch.ts";
import { stateAt } from "../../../src/state/open-state.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { machine } from "../../support/machine.ts";
import { memoryState } from "../../support/memory-state.ts";
import { observedPass } from "../../support/observed-pass.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";

test("a pass that cannot be stored is no failure: it is told, and who waits for the pass goes on", async () => {
  const folder = await temporaryFolder();
  await using state = stateAt(folder, machine);
  const told: string[] = [];
  const recorder = createPassRecorder({
    target: "prod",
    source: null,
    state: { folder, target: state.target, onForgotten: (what, why) => told.push(`${what}: ${why}`) },
    now: () => 0,
    standsBy: () => null,
    between: async () => [],
  });
  const watch = createPassWatch();
  const times = { startedAt: 1, endedAt: 2, nextAt: null, wanted: null };
  await recorder.onPassEnd(watch.end(times));
  expect(told).toEqual([]);
  await rm(folder, { recursive: true });
  const waited = recorder.nextPass();
  await recorder.onPassEnd(watch.end(times));
  await waited;
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
  });
  const outcome = (identity: string, result: "updated" | "created") =>
    ({ identity, result, rollout: "progressing", error: null }) as const;
  const ended = (identity: string, rollout: "failed" | "succeeded") =>
    recorder.observer.emit({ what: "rolled-out", identity, rollout });
  ended("service/early", "succeeded");
  const event = sampleApplyEvent([outcome("service/late", "updated"), outcome("service/early", "created")]);
  await recorder.onPassEnd(observedPass({ emit: () => undefined, failure: () => undefined }, [event]));
  ended("service/late", "failed");
  await recorder.onPassEnd(observedPass({ emit: () => undefined, failure: () => undefined }, []));
  const store = await state.target();
  const { entries } = await store.events({}, { limit: 10 });
  expect(entries.map(({ identity, state, rollout }) => [identity, state, rollout])).toEqual([
    ["service/late", "updated", "failed"],
    ["service/early", "created", "succeeded"],
    ["service/late", "updated", "progressing"],
  ]);
  expect((await store.unsettled({}, { limit: 10 })).entries.map(({ identity }) => identity)).toEqual(["service/late"]);
});
