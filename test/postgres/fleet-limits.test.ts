import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import type { RequestLimits } from "../../src/core/request-shares.ts";
import { openFleetLimits } from "../../src/daemon/fleet-limits.ts";
import { temporaryFolder } from "../control-plane.ts";
import { databaseOf, statement } from "../support/test-database.ts";

/** A control plane that answers after some time. */
function answeringAfter(ms: number) {
  const begun: number[] = [];
  const seen = { inFlight: 0, most: 0 };
  const answer = async (): Promise<void> => {
    begun.push(performance.now());
    seen.inFlight += 1;
    seen.most = Math.max(seen.most, seen.inFlight);
    await pause(ms);
    seen.inFlight -= 1;
  };
  return { answer, begun, seen };
}

/** Processes of a fleet, as far as limits go. */
async function processesOf(count: number, limits: RequestLimits, answer: () => Promise<void>) {
  const address = new Secret((await databaseOf(await temporaryFolder())) ?? "");
  return Array.from({ length: count }, (_, at) => {
    const onTrouble = (error: unknown): never => {
      throw error;
    };
    const fleet = openFleetLimits({ address, process: `p${at}`, clock: systemClock, onTrouble });
    onTestFinished(() => fleet[Symbol.asyncDispose]());
    const limit = fleet.limit("s", limits);
    const request = (): Promise<void> =>
      new Promise((resolve) => {
        limit.wait((end) => void answer().then(end).then(resolve));
      });
    return { request, requests: (many: number) => Promise.all(Array.from({ length: many }, request)) };
  });
}

test("two requests in flight are shared by three processes, and each gets on", async () => {
  const server = answeringAfter(10);
  const processes = await processesOf(3, { concurrency: 2, requestsPerSecond: null }, server.answer);
  // A turn of half a second may be enough for all requests of one process, but none waits until both others have made theirs.
  let over = 0;
  const count = () => {
    over += 1;
  };
  const firsts = processes.map(({ request }) => request().then(() => over));
  await Promise.all(processes.map(({ requests }) => requests(60).then(count)));
  expect(server.seen.most).toBe(2);
  expect(Math.max(...(await Promise.all(firsts)))).toBeLessThan(2);
});

test("the requests of a second are shared by three processes, with any number in flight", async () => {
  const server = answeringAfter(50);
  const processes = await processesOf(3, { concurrency: null, requestsPerSecond: 50 }, server.answer);
  const from = performance.now();
  await Promise.all(processes.map(({ requests }) => requests(40)));
  // A request may begin late by a hundred milliseconds. Without sharing they would take 800.
  expect((server.begun.at(-1) ?? 0) - from).toBeGreaterThan((119 * 1000) / 50 - 200);
});

test("a process without other ones is delayed by its limits alone", async () => {
  const server = answeringAfter(10);
  const [only] = await processesOf(1, { concurrency: 4, requestsPerSecond: 1000 }, server.answer);
  // As long as they take where each waits for a question to the database, of which there are five in a second.
  const delayedMs = 30 * 200;
  const rounds: number[] = [];
  // Other work on the machine can spoil a round; a delay by the limits spoils them all.
  while (rounds.length < 5 && !rounds.some((took) => took < delayedMs / 2)) {
    const from = performance.now();
    for (let nth = 0; nth < 30; nth += 1) await only?.request();
    rounds.push(performance.now() - from);
  }
  expect(Math.min(...rounds)).toBeLessThan(delayedMs / 2);
});

test("a database that refuses the table of the limits keeps no connection of each attempt", async () => {
  const data = await temporaryFolder();
  const url = new URL((await databaseOf(data)) ?? "");
  const [user, troubled] = [`reader_${crypto.randomUUID().replaceAll("-", "")}`, Promise.withResolvers<unknown>()];
  await statement(data, `CREATE ROLE ${user} LOGIN PASSWORD 'reader'`);
  [url.username, url.password] = [user, "reader"];
  const fleet = openFleetLimits({
    ...{ address: new Secret(url.href), process: "p", clock: systemClock, onTrouble: troubled.resolve },
  });
  fleet.limit("s", { concurrency: 1, requestsPerSecond: null }).wait(() => {});
  expect(String(await troubled.promise)).toContain("refuses this user");
  await fleet[Symbol.asyncDispose]();
  const left = async () => (await statement(data, `SELECT 1 FROM pg_stat_activity WHERE usename = '${user}'`)).length;
  await expect.poll(left, { timeout: 20_000 }).toBe(0);
  await statement(data, `DROP ROLE ${user}`);
});
