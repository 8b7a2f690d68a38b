import { expect, test } from "vitest";
import { faultProxy, silence } from "../support/fault-proxy.ts";
import { team } from "../support/manifests.ts";
import { noteRequests } from "../support/note-requests.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import type { Postgres } from "../support/postgres.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const environment = ({ url }: Postgres) => ({
  HOLDFAST_STATE: url,
  HOLDFAST_STATE_KEY: "11".repeat(32),
  HOLDFAST_CACHE: "on",
});

const names = ["a", "b", "c", "d", "e", "f"];
const limits = { concurrency: 2, requestsPerSecond: 6 };

test("three processes keep the limits of a control plane together", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  // Without leases, which would let only one pass write at a time.
  const server = await serve(["--documented-only"]);
  const proxy = await faultProxy(server);
  const notes = noteRequests();
  proxy.inject(({ path }) => !path.includes("/leases"), notes.fault);
  const upstream = await upstreamOf(Object.fromEntries(names.map((name) => [`t/${name}/team.yaml`, team(name)])));
  const config = {
    sources: [{ name: "platform", url: upstream.folder }],
    servers: [{ name: "s", url: proxy.url, tokenFile: "token", ...limits }],
    targets: [{ name: "{dir}", each: "t/*", server: "s" }],
  };
  const watches = [1, 2, 3].map(async () => {
    const operator = await operatorOf(config);
    await operator.write("token", server.token);
    const watch = operator.start(["watch", "--workers", "2", "--interval", "2"], environment(postgres));
    await watch.shows("stdout", /in sync|unchanged|created/);
  });
  await Promise.all(watches);
  // All passes begin at the same time, and each takes longer than the interval.
  notes.seen.delayMs = 300;
  const slowFrom = notes.arrivals.length;
  await expect.poll(() => notes.arrivals.length).toBeGreaterThan(slowFrom + 20);
  expect(notes.seen.most).toBe(limits.concurrency);

  // Answered at once, they would be made three times as fast by processes that do not share the limit.
  notes.seen.delayMs = 0;
  const [from, since] = [notes.arrivals.length, performance.now()];
  await expect.poll(() => notes.arrivals.length, { interval: 5 }).toBeGreaterThanOrEqual(from + 30);
  const seconds = ((notes.arrivals[from + 29] ?? 0) - since) / 1000;
  // Some may have been on their way before, and one may begin late by a tenth of a second.
  expect(seconds).toBeGreaterThan((30 - limits.concurrency - 2) / limits.requestsPerSecond);
});

test("a control plane that hardly answers leaves a worker to the targets of another one", async ({ skip }) => {
  const postgres = await ownPostgres(skip);
  const [slow, fast] = await Promise.all([serve(), serve()]);
  const proxy = await faultProxy(slow);
  const silent = proxy.inject(({ path }) => !path.includes("/leases"), silence);
  const upstream = await upstreamOf(
    Object.fromEntries(["s1", "s2", "s3", "f1"].map((name) => [`t/${name}/team.yaml`, team(name)])),
  );
  const operator = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder }],
    servers: [
      { name: "slow", url: proxy.url, tokenFile: "slow" },
      { name: "fast", url: fast.url, tokenFile: "fast" },
    ],
    targets: [
      ...["s1", "s2", "s3"].map((name) => ({ name, server: "slow", paths: [`t/${name}`] })),
      { name: "f1", server: "fast", paths: ["t/f1"] },
    ],
  });
  await operator.write("slow", slow.token);
  await operator.write("fast", fast.token);
  // None of the requests to the slow one ends before the test does.
  const flags = ["--workers", "2", "--interval", "1", "--sink", "file", "--request-timeout", "600"];
  operator.start(["watch", ...flags], environment(postgres));
  await silent.hit;
  await expect.poll(() => fast.effects().length).toBe(1);
  for (const member of ["grace@example.com", "ada@example.com", "alan@example.com"]) {
    const effects = fast.effects().length;
    await upstream.commit({ "t/f1/team.yaml": team("f1", member) });
    await expect.poll(() => fast.effects().length, { interval: 20 }).toBe(effects + 1);
  }
  expect(slow.effects()).toEqual([]);
});
