import { expect, onTestFinished, test } from "vitest";
import { faultProxy } from "../support/fault-proxy.ts";
import { team } from "../support/manifests.ts";
import { noteRequests } from "../support/note-requests.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve } from "../support/server.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const names = Array.from({ length: 12 }, (_, at) => `t${at}`);
const limits = { concurrency: 2, requestsPerSecond: 6 };

test("what a killed or suspended process held of the limits is used by the others, and by itself when it goes on", async () => {
  const postgres = await startPostgres();
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  const server = await serve(["--documented-only"]);
  const proxy = await faultProxy(server);
  const notes = noteRequests();
  notes.seen.delayMs = 300;
  proxy.inject(({ path }) => !path.includes("/leases"), notes.fault);
  const upstream = await upstreamOf(Object.fromEntries(names.map((name) => [`t/${name}/team.yaml`, team(name)])));
  const config = {
    sources: [{ name: "platform", url: upstream.folder }],
    servers: [{ name: "s", url: proxy.url, tokenFile: "token", ...limits }],
    targets: [{ name: "{dir}", each: "t/*", server: "s" }],
  };
  const env = { HOLDFAST_STATE: postgres.url, HOLDFAST_STATE_KEY: "11".repeat(32) };
  const machines = [1, 2, 3].map(async () => {
    const operator = await operatorOf(config);
    await operator.write("token", server.token);
    const watch = operator.start(["watch", "--workers", "3", "--interval", "2"], env);
    await watch.shows("stdout", /in sync|unchanged|created/);
    return watch;
  });
  const [killed, suspended] = await Promise.all(machines);
  const more = async (count: number, withinMs: number): Promise<void> => {
    const from = notes.arrivals.length;
    await expect.poll(() => notes.arrivals.length, { timeout: withinMs }).toBeGreaterThan(from + count);
  };
  await more(60, 60_000);
  expect(notes.seen.most).toBeLessThanOrEqual(limits.concurrency);
  killed?.kill("SIGKILL");
  await more(60, 60_000);
  suspended?.kill("SIGSTOP");
  await more(60, 60_000);
  suspended?.kill("SIGCONT");
  await more(60, 60_000);
  // The requests that the suspended process had in flight when the others took its share.
  expect(notes.seen.most).toBeLessThanOrEqual(2 * limits.concurrency);
  expect(notes.busiestSecond()).toBeLessThanOrEqual(1.3 * limits.requestsPerSecond);
});
