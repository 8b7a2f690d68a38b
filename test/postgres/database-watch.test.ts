import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock/system.ts";
import { Secret } from "../../src/contract/secret.ts";
import { watchDatabase } from "../../src/daemon/database-watch.ts";
import { temporaryFolder } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { databaseOf } from "../support/test-database.ts";

const never = () => new Promise<never>(() => {});

test.for(["refuses connections", "answers nothing"] as const)(
  "a database that %s is lost until it answers again, and ends what is being read",
  async (how) => {
    const url = new URL((await databaseOf(await temporaryFolder())) ?? "");
    const wire = await startBreakableProxy(Number(url.port));
    url.port = `${wire.port}`;
    const begun = Date.now();
    const database = watchDatabase(new Secret(url.href), systemClock);
    onTestFinished(() => database[Symbol.asyncDispose]());
    expect(await database.read(async () => "read")).toBe("read");
    const reading = database.read(never);
    // One connection alone may break.
    wire.closeAll();
    if (how === "answers nothing") wire.silence();
    else await wire.disconnect();
    expect(await reading).toBe(null);
    expect(database.lostSince()).toBeGreaterThanOrEqual(begun);
    expect(await database.read(never)).toBe(null);
    await wire.restore();
    await expect.poll(() => database.lostSince()).toBe(null);
    expect(await database.read(async () => "read")).toBe("read");
  },
);
