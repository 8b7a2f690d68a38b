import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { openFleetQueue } from "../../src/daemon/fleet-queue.ts";
import { type DuePass, NotNowError, type PassAgain, type PassJob, waitAfterLoss } from "../../src/daemon/pass-queue.ts";
import { temporaryFolder } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { databaseOf, statement } from "../support/test-database.ts";

const job: PassJob = { target: "a", scope: "all", cause: "signal" };
const retriesOf = (target: string, age = "0 s") =>
  `UPDATE holdfast_jobs.job SET retry_count = 500, created_on = created_on - interval '${age}'
   WHERE data->>'target' = '${target}'`;

type OnPass = (job: PassJob | null) => void;
/** The control plane of a process, and when its passes say that they are made again. */
type Process = { readonly server?: string; readonly again?: (losses: number) => PassAgain | null };

/** A fleet that watches the target `a`; each of its processes has a proxy of its own to the database. */
async function fleetOf({ intervalMs = 3_600_000 } = {}) {
  const data = await temporaryFolder();
  const database = (await databaseOf(data)) ?? "";
  // The database is used again.
  onTestFinished(() => statement(data, "DROP SCHEMA IF EXISTS holdfast_jobs CASCADE").then(() => {}));
  const processOf = async (onPass: OnPass, { server = "http://one", again = () => null }: Process = {}) => {
    const url = new URL(database);
    const wire = await startBreakableProxy(Number(url.port));
    url.port = `${wire.port}`;
    const queue = await openFleetQueue({
      ...{ address: new Secret(url.href), workers: 1, servers: new Map([["a", server]]) },
      ...{ clock: systemClock, onTrouble: () => {} },
    });
    const stopping = new AbortController();
    const pass = async ({ job: due, losses }: DuePass) => {
      onPass(due);
      return again(losses);
    };
    const working = queue.work("a", pass, { intervalMs, signal: stopping.signal });
    onTestFinished(async () => {
      stopping.abort();
      await working;
      await queue[Symbol.asyncDispose]();
    });
    return { queue, wire };
  };
  return { processOf, run: (text: string) => statement(data, text) };
}

type Fleet = Awaited<ReturnType<typeof fleetOf>>;

/** A process of a fleet of its own, or one that has another control plane beside it. */
async function processOf(
  onPass: OnPass,
  { beside, ...process }: Process & { readonly beside?: { readonly fleet: Fleet } } = {},
) {
  const fleet = beside?.fleet ?? (await fleetOf());
  return { ...(await fleet.processOf(onPass, process)), fleet, run: fleet.run };
}

test.for(["refuses connections", "answers nothing"] as const)(
  "what is asked for while the database %s is done when it is back",
  async (how) => {
    const causes: unknown[] = [];
    const { queue, wire } = await processOf((due) => causes.push(due?.cause));
    await expect.poll(() => causes).toEqual(["start"]);
    if (how === "answers nothing") wire.stall();
    else await wire.disconnect();
    queue.enqueue(job);
    if (how === "refuses connections") await wire.restore();
    await expect.poll(() => causes).toEqual(["start", "signal"]);
  },
);

test("a pass that has waited very long for another writer is made as soon as it can be", async () => {
  let [isLocked, tries] = [true, 0];
  const { run } = await processOf(() => {
    tries += 1;
    if (isLocked) throw new NotNowError("another process writes it");
  });
  await expect.poll(() => tries).toBeGreaterThan(0);
  await run(retriesOf("a"));
  const before = tries;
  await expect.poll(() => tries).toBeGreaterThan(before + 1);
  isLocked = false;
  const then = tries;
  await expect.poll(() => tries).toBe(then + 1);
});

test("a pass over a target that nobody watches any more is not tried for ever", async () => {
  const { queue, run } = await processOf(() => {});
  const asked = queue.passed({ ...job, target: "gone" }).catch(({ message }: Error) => message);
  const states = async () =>
    (await run("SELECT state FROM holdfast_jobs.job WHERE data->>'target' = 'gone'")).map(({ state }) => state);
  await expect.poll(states).toEqual(["retry"]);
  // A process that has it may be busy for long.
  await run(retriesOf("gone"));
  const tries = async () =>
    Number((await run("SELECT retry_count FROM holdfast_jobs.job WHERE data->>'target' = 'gone'"))[0]?.retry_count);
  await expect.poll(tries).toBeGreaterThan(500);
  expect(await states()).not.toContain("completed");
  await run(retriesOf("gone", "1 hour"));
  await expect.poll(states).toEqual(["cancelled"]);
  expect(await asked).toBe("the pass was not made: no process watches the target gone");
});

test("passes that have ended for ten minutes are deleted within a minute", async () => {
  const { run } = await processOf(() => {});
  const ended = async () => (await run("SELECT 1 FROM holdfast_jobs.job WHERE completed_on IS NOT NULL")).length;
  await expect.poll(ended).toBe(1);
  const undeleted = async () => (await run("SELECT 1 FROM holdfast_jobs.queue WHERE maintain_on IS NULL")).length;
  await expect.poll(undeleted).toBe(0);
  const ago = (column: string, age: string) => `${column} = ${column} - interval '${age}'`;
  await run(`UPDATE holdfast_jobs.job SET ${ago("created_on", "11 min")}, ${ago("completed_on", "11 min")}`);
  await run(`UPDATE holdfast_jobs.queue SET ${ago("maintain_on", "1 min")}`);
  await expect.poll(ended).toBe(0);
});

test("of two configurations with a target of one name on two control planes, each runs its own passes", async () => {
  const [first, second]: [unknown[], unknown[]] = [[], []];
  const one = await processOf((due) => first.push(due?.cause));
  const two = await processOf((due) => second.push(due?.cause), { server: "http://two", beside: one });
  await expect.poll(() => [first, second]).toEqual([["start"], ["start"]]);
  await Promise.all([one.queue.passed(job), two.queue.passed({ ...job, cause: "request" })]);
  expect([first, second]).toEqual([
    ["start", "signal"],
    ["start", "request"],
  ]);
});

test("a pass that is cut short again and again is tried ever later, until one is asked for", async () => {
  let tries = 0;
  const onPass = () => {
    tries += 1;
  };
  const again = (losses: number) => ({ afterMs: waitAfterLoss(losses + 1, 3_600_000), losses: losses + 1 });
  const { queue, run } = await processOf(onPass, { again });
  // The third wait is four seconds, and those after it are longer.
  const postponed = async () =>
    (
      await run(`UPDATE holdfast_jobs.job SET start_after = now() + interval '1 hour' WHERE state = 'retry'
        AND (data->>'losses')::int >= 3 AND start_after > now() + interval '2 seconds' RETURNING id`)
    ).length;
  await expect.poll(postponed, { timeout: 30_000, interval: 100 }).toBe(1);
  const before = tries;
  // What is asked for begins at once, and is tried again after a second.
  queue.enqueue(job);
  await expect.poll(() => tries).toBeGreaterThan(before + 1);
});

const startLater = (when: string) =>
  `UPDATE holdfast_jobs.job SET start_after = ${when} WHERE name = 'later-passes' AND state = 'created' RETURNING id`;

test("the pass of the interval is made by another process where the one that made the last is lost", async () => {
  const { processOf: start, run } = await fleetOf();
  const causes: unknown[] = [];
  const lost = await start((due) => causes.push(due?.cause));
  await expect.poll(() => causes).toEqual(["start"]);
  await expect.poll(() => run(startLater("now() + interval '1h'"))).toHaveLength(1);
  await lost.wire.disconnect();
  const others: unknown[] = [];
  await start((due) => others.push(due?.cause));
  await expect.poll(() => others).toEqual(["start"]);
  await expect.poll(() => run(startLater("now()"))).toHaveLength(1);
  await expect.poll(() => others).toEqual(["start", "interval"]);
  expect(causes).toEqual(["start"]);
});

test("a pass is made in each interval also where the clock of the database is set back, and by one of the processes", async () => {
  const { processOf: start, run } = await fleetOf({ intervalMs: 1000 });
  const begun = performance.now();
  let passes = 0;
  const onPass = () => {
    passes += 1;
  };
  for (const _ of [1, 2, 3]) await start(onPass);
  await expect.poll(() => passes).toBeGreaterThan(6);
  // Each process asks for one at its start, and late ones may be asked for twice.
  expect(passes).toBeLessThan(6 + (performance.now() - begun) / 1000);
  await expect.poll(() => run(startLater("now() + interval '1h'"))).toHaveLength(1);
  const before = passes;
  await expect.poll(() => passes).toBeGreaterThan(before + 1);
});

test("a worker that is free goes on with the next pass at once, and not at its next look into the queue", async () => {
  let passes = 0;
  const onPass = () => {
    passes += 1;
  };
  const { queue } = await processOf(onPass);
  const pass = async () => {
    onPass();
    return null;
  };
  const stopping = new AbortController();
  const times = { intervalMs: 3_600_000, signal: stopping.signal };
  const begun = performance.now();
  const others = Array.from({ length: 60 }, (_, at) => queue.work(`b${at}`, pass, times));
  await expect.poll(() => passes, { timeout: 90_000 }).toBe(61);
  stopping.abort();
  await Promise.all(others);
  // It looks once a second.
  expect(performance.now() - begun).toBeLessThan(40_000);
});

test("what is asked for later, as at the end of a freeze, is asked for also when the process that did so is lost", async () => {
  const { processOf: start, run } = await fleetOf();
  const causes: unknown[] = [];
  const lost = await start((due) => causes.push(due?.cause));
  await expect.poll(() => causes).toEqual(["start"]);
  const window: PassJob = { target: "a", scope: "all", cause: "window" };
  lost.queue.enqueueAfter(window, 3_600_000);
  const waiting = "FROM holdfast_jobs.job WHERE data->'pass'->>'cause' = 'window'";
  const asked = () => run(`SELECT 1 ${waiting}`);
  await expect.poll(asked).toHaveLength(1);
  // In place of the first.
  lost.queue.enqueueAfter(window, 5000);
  const waitS = () => run(`SELECT extract(epoch FROM start_after - now())::int AS s ${waiting}`);
  await expect.poll(async () => Number((await waitS())[0]?.s)).toBeLessThan(3000);
  expect(await asked()).toHaveLength(1);
  await lost.wire.disconnect();
  const others: unknown[] = [];
  await start((due) => others.push(due?.cause));
  await expect.poll(() => others).toEqual(["start", "window"]);
});

test("a queue that was made with other options gets those of the process that starts", async () => {
  const { processOf: start, run } = await fleetOf();
  await start(() => {});
  const options = () => run("SELECT retry_limit, heartbeat_seconds, notify FROM holdfast_jobs.queue ORDER BY name");
  const own = await options();
  await run("UPDATE holdfast_jobs.queue SET retry_limit = 2, heartbeat_seconds = 60, notify = false");
  await start(() => {});
  expect(await options()).toEqual(own);
});
