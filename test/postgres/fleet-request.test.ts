import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { openFleetQueue } from "../../src/daemon/fleet-queue.ts";
import { passedInFleet } from "../../src/daemon/fleet-request.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { temporaryFolder } from "../support/folder.ts";
import { databaseOf, statement } from "../support/test-database.ts";

test("a command asks a fleet for a pass and waits for its end, and does not wait where none works", async () => {
  const address = new Secret((await databaseOf(await temporaryFolder(), "template1")) ?? "");
  const { signal } = new AbortController();
  const servers = new Map([["a", "http://server"]]);
  const request = { address, targets: ["a"], clock: systemClock };
  const asked = () => passedInFleet(request, { signal });
  expect(await asked()).toBe(false);
  const passes: unknown[] = [];
  {
    await using queue = await openFleetQueue({
      ...{ address, workers: 1, servers, clock: systemClock, onTrouble: () => {} },
    });
    const stopping = new AbortController();
    const begun = Promise.withResolvers<void>();
    const pass = async ({ job }: { readonly job: { readonly cause: string } | null }) => {
      passes.push(job?.cause);
      begun.resolve();
      return null;
    };
    const working = queue.work("a", pass, { intervalMs: 3_600_000, signal: stopping.signal });
    await begun.promise;
    expect(await asked()).toBe(true);
    expect(passes).toEqual(["start", "request"]);
    expect(await passedInFleet({ ...request, targets: ["unwatched"] }, { signal })).toBe(false);
    stopping.abort();
    await working;
    // Nobody makes this pass, so its end is not waited for longer than the command may.
    const ended = new AbortController();
    const never = passedInFleet(request, { signal: ended.signal });
    ended.abort(new Error("the time limit is over"));
    await expect(never).rejects.toThrow("the time limit is over");
  }
  expect(await asked()).toBe(false);
  expect(passes).toHaveLength(2);
});

test("a process that is lost is no longer asked for passes after 12 seconds", async () => {
  const data = await temporaryFolder();
  const url = new URL((await databaseOf(data, "template1")) ?? "");
  const address = new Secret(url.href);
  const wire = await startBreakableProxy(Number(url.port));
  url.port = `${wire.port}`;
  const servers = new Map([["a", "http://server"]]);
  const queue = await openFleetQueue({
    ...{ address: new Secret(url.href), workers: 1, servers, clock: systemClock, onTrouble: () => {} },
  });
  const stopping = new AbortController();
  const begun = Promise.withResolvers<void>();
  const pass = async () => {
    begun.resolve();
    return null;
  };
  const working = queue.work("a", pass, { intervalMs: 3_600_000, signal: stopping.signal });
  onTestFinished(async () => {
    stopping.abort();
    await working;
    await queue[Symbol.asyncDispose]();
  });
  await begun.promise;
  await wire.disconnect();
  const { signal } = new AbortController();
  await statement(data, "UPDATE holdfast_jobs.instance SET heartbeat_on = now() - interval '13 s'");
  expect(await passedInFleet({ address, targets: ["a"], clock: systemClock }, { signal })).toBe(false);
});
