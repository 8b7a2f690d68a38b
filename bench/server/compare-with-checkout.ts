import { join } from "node:path";
import type { Row } from "../judge-results.ts";
import { startHoldfastServe } from "../start-control-plane.ts";
import { puts } from "./compare-with-floor.ts";
import { type Ask, openLoad } from "./load.ts";
import { putApp, putCluster, putWorkspaces } from "./manifests.ts";
import { compare, type Side } from "./rounds.ts";

const WORKSPACES = 1000;
const IN_FLIGHT = 64;
const LEAST = 0.97;

/** Compares the writes of this checkout with those of another one that was built, each on data of its own. */
export async function compareWithCheckout(work: string, other: string, rounds: number): Promise<readonly Row[]> {
  await using mine = await planted(join(work, "this"), import.meta.dirname.replace(/bench.server$/, ""));
  await using theirs = await planted(join(work, "other"), other);
  const measured = async (measure: string, asks: Side["asks"]): Promise<Row> => {
    const { slower, busier, oursPerSecond, otherPerSecond } = await compare(
      { ...mine, asks },
      { ...theirs, asks },
      { rounds, inFlight: IN_FLIGHT },
    );
    const ratio = 1 / slower;
    return {
      measure,
      goal: `≥ ${LEAST} × the other`,
      figure: `${ratio.toFixed(2)} ×`,
      verdict: ratio >= LEAST ? "met" : "missed",
      detail: `${oursPerSecond.toFixed(0)} per s, the other ${otherPerSecond.toFixed(0)}; ${(1 / busier).toFixed(2)} × by processor time`,
    };
  };
  return [
    await measured("PUT /apps, half new and half unchanged", puts),
    await measured("PUT /apps, changed", changes),
  ];
}

async function planted(data: string, checkout: string) {
  const serving = await startHoldfastServe(data, [], "0", join(checkout, "bin/holdfast.js"));
  const load = openLoad(serving.url, IN_FLIGHT);
  await load.one(putCluster);
  await load.round(putWorkspaces(WORKSPACES), 16);
  await load.one(putApp("ws0", "sample"));
  const end = async (): Promise<void> => {
    await load.close();
    await serving.stop();
  };
  return { serving, load, [Symbol.asyncDispose]: end };
}

function changes(round: number): readonly Ask[] {
  return Array.from({ length: 1000 }, (_, nth) => putApp(`ws${nth}`, `changed-${nth}`, { ROUND: round }));
}
