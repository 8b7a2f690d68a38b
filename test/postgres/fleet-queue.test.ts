import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { openFleetQueue } from "../../src/daemon/fleet-queue.ts";
import { CutShortError, NotNowError, type PassJob } from "../../src/daemon/pass-queue.ts";
import { temporaryFolder } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { databaseOf, statement } from "../support/test-database.ts";

const job: PassJob = { target: "a", scope: "all", cause: "signal" };
const retriesOf = (target: string, age = "0 s") =>
  `UPDATE holdfast_jobs.job SET retry_count = 500, created_on = created_on - interval '${age}'
   WHERE data->>'target' = '${target}'`;

/** A process of a fleet, which watches the target `a` on a control plane, behind a proxy to the database. */
async function processOf(
  onPass: (job: PassJob | null) => void,
  { server = "http://one", beside }: { readonly server?: string; readonly beside?: { readonly data: string } } = {},
) {
  const data = beside?.data ?? (await temporaryFolder());
  const url = new URL((await databaseOf(data)) ?? "");
  const wire = await startBreakableProxy(Number(url.port));
  url.port = `${wire.port}`;
  const queue = await openFleetQueue({
    ...{
      address: new Secret(url.href),
      workers: 1,
      servers: new Map([["a", server]]),
      clock: systemClock,
      onTrouble: () => {},
    },
  });
  const stopping = new AbortController();
  const times = { intervalMs: 3_600_000, signal: stopping.signal };
  const working = queue.work("a", async ({ job: due }) => onPass(due), times);
  onTestFinished(async () => {
    stopping.abort();
    await working;
    await queue[Symbol.asyncDispose]();
    // The database is used again.
    if (beside === undefined) await statement(data, "DROP SCHEMA holdfast_jobs CASCADE");
  });
  return { data, queue, wire, run: (text: string) => statement(data, text) };
}

test.for(["refuses connections", "answers nothing"] as const)(
  "what is asked for while the database %s is done when it is back",
  async (how) => {
    const causes: unknown[] = [];
    const { queue, wire } = await processOf((due) => causes.push(due?.cause));
    await expect.poll(() => causes, { timeout: 20_000 }).toEqual(["start"]);
    if (how === "answers nothing") wire.stall();
    else await wire.disconnect();
    queue.enqueue(job);
    if (how === "refuses connections") await wire.restore();
    await expect.poll(() => causes, { timeout: 30_000 }).toEqual(["start", "signal"]);
  },
);

test("a pass that has waited very long for another writer is made as soon as it can be", async () => {
  let [isLocked, tries] = [true, 0];
  const { run } = await processOf(() => {
    tries += 1;
    if (isLocked) throw new NotNowError("another process writes it");
  });
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThan(0);
  await run(retriesOf("a"));
  const before = tries;
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThan(before + 1);
  isLocked = false;
  const then = tries;
  await expect.poll(() => tries, { timeout: 20_000 }).toBe(then + 1);
});

test("a pass over a target that nobody watches any more is not tried for ever", async () => {
  const { queue, run } = await processOf(() => {});
  queue.enqueue({ ...job, target: "gone" });
  const states = async () =>
    (await run("SELECT state FROM holdfast_jobs.job WHERE data->>'target' = 'gone'")).map(({ state }) => state);
  await expect.poll(states, { timeout: 20_000 }).toEqual(["retry"]);
  // A process that has it may be busy for long.
  await run(retriesOf("gone"));
  const tries = async () =>
    Number((await run("SELECT retry_count FROM holdfast_jobs.job WHERE data->>'target' = 'gone'"))[0]?.retry_count);
  await expect.poll(tries, { timeout: 20_000 }).toBeGreaterThan(500);
  expect(await states()).not.toContain("completed");
  await run(retriesOf("gone", "1 hour"));
  await expect.poll(states, { timeout: 20_000 }).toEqual(["completed"]);
});

test("of two configurations with a target of one name on two control planes, each runs its own passes", async () => {
  const [first, second]: [unknown[], unknown[]] = [[], []];
  const one = await processOf((due) => first.push(due?.cause));
  const two = await processOf((due) => second.push(due?.cause), { server: "http://two", beside: one });
  await expect.poll(() => [first, second], { timeout: 30_000 }).toEqual([["start"], ["start"]]);
  await Promise.all([one.queue.passed(job), two.queue.passed({ ...job, cause: "request" })]);
  expect([first, second]).toEqual([
    ["start", "signal"],
    ["start", "request"],
  ]);
});

test("a pass that is cut short again and again is tried ever later, until one is asked for", async () => {
  let tries = 0;
  const { queue, run } = await processOf(() => {
    tries += 1;
    throw new CutShortError("the pass lost its lease");
  });
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
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThan(before + 1);
});
