import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { openFleetQueue } from "../../src/daemon/fleet-queue.ts";
import type { PassJob } from "../../src/daemon/pass-queue.ts";
import { temporaryFolder } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { databaseOf, statement } from "../support/test-database.ts";

const job: PassJob = { target: "a", scope: "all", cause: "signal" };

/** A process of a fleet, which watches the target `a`, behind a proxy to the database. */
async function processOf(onPass: (job: PassJob | null) => void) {
  const data = await temporaryFolder();
  const url = new URL((await databaseOf(data)) ?? "");
  const wire = await startBreakableProxy(Number(url.port));
  url.port = `${wire.port}`;
  const queue = await openFleetQueue({
    ...{ address: new Secret(url.href), workers: 1, servers: new Map(), clock: systemClock, onTrouble: () => {} },
  });
  const stopping = new AbortController();
  const times = { intervalMs: 3_600_000, signal: stopping.signal };
  const working = queue.work("a", async ({ job: due }) => onPass(due), times);
  onTestFinished(async () => {
    stopping.abort();
    await working;
    await queue[Symbol.asyncDispose]();
    // The database is used again.
    await statement(data, "DROP SCHEMA holdfast_jobs CASCADE");
  });
  return { queue, wire };
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
