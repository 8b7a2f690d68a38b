import { join } from "node:path";
import type { Row } from "../judge-results.ts";
import { startHoldfastServe } from "../start-control-plane.ts";
import type { BenchServer } from "../start-server.ts";
import { type Amount, grow } from "./grow.ts";
import { type Ask, type Load, openLoad } from "./load.ts";
import { putApp, putCluster, putWorkspaces } from "./manifests.ts";
import { compare, type Side } from "./rounds.ts";

const APPS = "/api/svc/v1/apps";
const REQUESTS = 200;
const AT_MOST = 2;

type Known = { readonly id: string; readonly fqn: string; readonly lastDeploymentId: string };
/** The path of the nth request, given some of the applications there are, and how many in all. */
type Path = (nth: number, known: Known, total: number) => string;

const asked: { readonly [measure: string]: Path } = {
  "list, first page": () => APPS,
  "list, page in the middle": (nth, _, total) => `${APPS}?offset=${Math.floor(total / 2) + nth}`,
  "list, last page": (_, __, total) => `${APPS}?offset=${total - 100}`,
  "list, last page of 1,000": (_, __, total) => `${APPS}?limit=1000&offset=${total - 1000}`,
  "list, offset past the end": (_, __, total) => `${APPS}?offset=${total}`,
  "filter by workspace": (nth) => `${APPS}?limit=10&workspaceFqn=bench:ws${nth % 100}`,
  "filter by fqn": (_, { fqn }) => `${APPS}?fqn=${fqn}`,
  "filter by type": () => `${APPS}?applicationType=service`,
  "newest deployment": (_, { id }) => `${APPS}/${id}/deployments?limit=1`,
  "deployment by version": (_, { id }) => `${APPS}/${id}/deployments?version=1`,
  "deployment by id": (_, { id, lastDeploymentId }) => `${APPS}/${id}/deployments?deploymentId=${lastDeploymentId}`,
  "cluster by id": () => "/api/svc/v1/clusters/bench",
};

/** Compares lists and reads over very much data with the same over little. */
export async function atScale(
  work: string,
  { large, rounds, note }: { readonly large: Amount; readonly rounds: number; readonly note: (line: string) => void },
): Promise<readonly Row[]> {
  const little: Amount = { workspaces: 100, applications: 1000, deployments: 1 };
  const [small, big] = [await planted(join(work, "little"), little), await planted(join(work, "much"), large)];
  try {
    const rows: Row[] = [];
    for (const [measure, path] of Object.entries(asked)) {
      note(`  ${measure}`);
      const sides = [side(big, path, large), side(small, path, little)] as const;
      const { slower, busier } = await compare(...sides, { rounds, inFlight: 2 });
      rows.push(ratioRow(measure, slower, `${busier.toFixed(2)} × by processor time`));
    }
    return [...rows, memoryRow(big.serving), startRow(big.serving)];
  } finally {
    await Promise.all([small, big].map(({ load }) => load.close()));
    await Promise.all([small, big].map(({ serving }) => serving.stop()));
  }
}

type Planted = { readonly serving: BenchServer; readonly load: Load; readonly known: readonly Known[] };

async function planted(data: string, amount: Amount): Promise<Planted> {
  await plant(data, amount.workspaces);
  grow(join(data, "control-plane.db"), amount);
  const serving = await startHoldfastServe(data);
  const load = openLoad(serving.url, 4);
  const offset = Math.floor(amount.applications / 2) - 250;
  const { data: known } = await load.one({ method: "GET", path: `${APPS}?limit=500&offset=${offset}` });
  return { serving, load, known };
}

async function plant(data: string, workspaces: number): Promise<void> {
  const serving = await startHoldfastServe(data);
  const load = openLoad(serving.url, 8);
  await load.one(putCluster);
  await load.round(putWorkspaces(workspaces), 8);
  await load.one(putApp("ws0", "sample"));
  await load.close();
  await serving.stop();
}

function side({ serving, load, known }: Planted, path: Path, { applications }: Amount): Side {
  const ask = (nth: number): Ask => {
    const one = known[(nth * 37) % known.length];
    if (one === undefined) throw new Error("there are no applications");
    return { method: "GET", path: path(nth, one, applications) };
  };
  return { serving, load, asks: () => Array.from({ length: REQUESTS }, (_, nth) => ask(nth)) };
}

function ratioRow(measure: string, ratio: number, detail: string): Row {
  const figure = `${ratio.toFixed(2)} ×`;
  return { measure, goal: `≤ ${AT_MOST} × little`, figure, verdict: ratio <= AT_MOST ? "met" : "missed", detail };
}

function memoryRow(serving: BenchServer): Row {
  const peak = serving.peakMegabytes();
  const verdict = peak < 300 ? "met" : "missed";
  return {
    measure: "memory",
    goal: "< 300 MB",
    figure: `${peak.toFixed(0)} MB`,
    verdict,
    detail: "peak, after all this",
  };
}

function startRow({ startMilliseconds: took }: BenchServer): Row {
  const verdict = took < 1000 ? "met" : "missed";
  return { measure: "start", goal: "< 1000 ms", figure: `${took.toFixed(0)} ms`, verdict, detail: "until it listens" };
}
