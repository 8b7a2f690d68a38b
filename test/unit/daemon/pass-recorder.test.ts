import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { createPassRecorder } from "../../../src/daemon/pass-recorder.ts";
import { createPassWatch } from "../../../src/daemon/pass-watch.ts";
import { stateAt } from "../../../src/state/open-state.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { machine } from "../../support/machine.ts";

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
