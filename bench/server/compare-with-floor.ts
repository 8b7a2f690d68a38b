import { cpSync } from "node:fs";
import { join } from "node:path";
import { median } from "../alternate-runs.ts";
import type { Row } from "../judge-results.ts";
import { startHoldfastServe } from "../start-control-plane.ts";
import { startServer } from "../start-server.ts";
import { type Ask, openLoad, percentile } from "./load.ts";
import { putApp, putCluster, putWorkspaces } from "./manifests.ts";
import { type Compared, compare } from "./rounds.ts";

const WORKSPACES = 1000;
const IN_FLIGHT = 64;
const LEAST = 0.5;

/** Compares list, read and write with bare handlers on a copy of the same data. */
export async function compareWithFloor(work: string, floor: string, rounds: number): Promise<readonly Row[]> {
  const data = join(work, "ours");
  await plant(data);
  const copy = join(work, "floor");
  cpSync(data, copy, { recursive: true });
  const [ours, bare] = [await startHoldfastServe(data), await startServer([floor, join(copy, "control-plane.db")])];
  const [mine, theirs] = [openLoad(ours.url, IN_FLIGHT), openLoad(bare.url, IN_FLIGHT)];
  const sides = (oursAsks: (nth: number) => readonly Ask[], floorAsks: (nth: number) => readonly Ask[]) =>
    [
      { serving: ours, load: mine, asks: oursAsks },
      { serving: bare, load: theirs, asks: floorAsks },
    ] as const;
  try {
    const list = await compare(
      ...sides(
        () => get("/api/svc/v1/workspaces?limit=1000", 100),
        () => get("/list?limit=1000", 100),
      ),
      { rounds, inFlight: 8 },
    );
    const one = await compare(
      ...sides(
        () => get("/api/svc/v1/clusters/bench", 3000),
        () => get("/clusters/bench", 3000),
      ),
      { rounds, inFlight: 16 },
    );
    const write = await compare(...sides(puts, (nth) => puts(nth).map((ask) => ({ ...ask, path: "/apps" }))), {
      rounds,
      inFlight: IN_FLIGHT,
    });
    return [rate("list of 1,000 workspaces", list), rate("GET by id", one), rate("PUT /apps", write), tail(write)];
  } finally {
    await Promise.all([mine.close(), theirs.close()]);
    await Promise.all([ours.stop(), bare.stop()]);
  }
}

async function plant(data: string): Promise<void> {
  const serving = await startHoldfastServe(data);
  const load = openLoad(serving.url, 16);
  await load.one(putCluster);
  await load.round(putWorkspaces(WORKSPACES), 16);
  await load.one(putApp("ws0", "sample"));
  await load.close();
  await serving.stop();
}

function get(path: string, count: number): readonly Ask[] {
  return Array.from({ length: count }, () => ({ method: "GET", path }));
}

/** Writes of a round: half of them are new, and half have a version already. */
export function puts(round: number): readonly Ask[] {
  return Array.from({ length: 1000 }, (_, nth) =>
    putApp(`ws${nth % WORKSPACES}`, `app-${Math.floor(round / 2)}-${nth}`),
  );
}

function rate(measure: string, { slower, busier, oursPerSecond, otherPerSecond }: Compared): Row {
  const ratio = 1 / slower;
  return {
    measure,
    goal: `≥ ${LEAST} × floor`,
    figure: `${ratio.toFixed(2)} ×`,
    verdict: ratio >= LEAST ? "met" : "missed",
    detail: `${oursPerSecond.toFixed(0)} per s, floor ${otherPerSecond.toFixed(0)}; ${(1 / busier).toFixed(2)} × by processor time`,
  };
}

function tail({ ours }: Compared): Row {
  const [half, most] = [0.5, 0.99].map((part) => median(ours.map((round) => percentile(round, part))));
  const ratio = (most ?? Number.NaN) / (half ?? Number.NaN);
  return {
    measure: "PUT /apps, 64 in flight",
    goal: "p99 < 10 × p50",
    figure: `${ratio.toFixed(1)} ×`,
    verdict: ratio < 10 ? "met" : "missed",
    detail: `p50 ${half?.toFixed(1)} ms, p99 ${most?.toFixed(1)} ms`,
  };
}
