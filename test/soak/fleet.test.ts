import { expect, test } from "vitest";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { faultProxy, passOn } from "../support/fault-proxy.ts";
import { fleetOf, isAt, targets } from "../support/fleet.ts";
import { ownPostgres } from "../support/own-postgres.ts";
import { startPostgres } from "../support/postgres.ts";
import { serve } from "../support/server.ts";
import { nothingFound, seedOf } from "./sweep.ts";
import { sweepFleet } from "./sweep-fleet.ts";

const seed = seedOf();
const seeds = process.env.SOAK === "all" ? 200 : Number(process.env.CASES ?? 10);

test.for(Array.from({ length: seeds }, (_, nth) => seed + nth))(
  "three processes that share passes lose and double nothing when some of them are lost, seed %i",
  async (one) => {
    await using postgres = await startPostgres();
    const options = { commits: 4, seed: one, isDocumentedOnly: one % 2 === 0, postgres };
    const { losses, slowestMs, ...found } = await sweepFleet(options);
    process.stdout.write(`a fleet, seed ${one}: ${losses} losses, the slowest ${Math.round(slowestMs)} ms\n`);
    expect(found).toEqual(nothingFound);
  },
);

test.for(["listTeams", "putTeam"] as const)(
  "a pass whose database is cut off at %s is made again when that is back, and not after the interval",
  async (operation, { skip }) => {
    const postgres = await ownPostgres(skip);
    const server = await serve();
    const proxy = await faultProxy(server);
    const url = new URL(postgres.url);
    const wire = await startBreakableProxy(Number(url.port));
    url.port = String(wire.port);
    const { upstream, machine } = await fleetOf({ url: url.href }, proxy.server);
    const cut = proxy.inject(
      operation,
      async (passing) => {
        await wire.disconnect();
        await passOn(passing);
      },
      { times: 1, dryRun: false },
    );
    const { status, watch } = await machine(["--interval", "3600"]);
    await cut.hit;
    await watch.shows("stderr", /the queue of passes/);
    await wire.restore();
    const begun = (await upstream.git("rev-parse", "HEAD")).trim();
    await expect.poll(async () => isAt(begun)(await status()), { timeout: 40_000 }).toBe(true);
    expect(server.effects()).toHaveLength(targets.length);
  },
);
