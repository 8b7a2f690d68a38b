import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { askDaemon } from "../../src/daemon/control-socket.ts";
import { eventually } from "../support/eventually.ts";
import { type FaultProxy, faultProxy } from "../support/fault-proxy.ts";
import { type Files, foundations, service } from "../support/manifests.ts";
import { randomFrom } from "../support/random.ts";
import { type Server, serve } from "../support/server.ts";
import { operatorOf, type Upstream, upstreamOf } from "../support/upstream.ts";
import { faultKinds } from "./fault-kinds.ts";

/** How long a daemon is watched, and how much it looks after. */
export type DaemonSoak = { readonly passes: number; readonly manifests: number; readonly seed: number };

/** What a daemon has done and taken over many passes. */
export type SoakReport = {
  readonly commits: number;
  readonly faults: number;
  /** Writes beyond one for each resource and change. */
  readonly doubled: readonly string[];
  readonly lost: readonly string[];
  /** The resident memory that a pass adds after the first quarter, by least squares over the least of each twenty-fifth. */
  readonly kilobytesPerPass: number;
  /** The same of the memory that is in use after a collection: what grows here is never given back. */
  readonly usedKilobytesPerPass: number;
  readonly peakMegabytes: number;
  /** How many more files were open at the end than after the first quarter. */
  readonly moreFiles: number;
};

const COMMIT_EVERY = 10;
const FAULT_EVERY = 50;

// An hour in which nothing is asked is longer than the soak.
const kinds = Object.entries(faultKinds).filter(([kind]) => kind !== "429 with a Retry-After of an hour");

/** How often in a soak the daemon is asked what it has in use. */
const USED_SAMPLES = 20;

// The first flag is that of the first line of bin/holdfast.js.
const nodeOptions = `--max-semi-space-size=16 --expose-gc --import=${join(import.meta.dirname, "report-memory.ts")}`;

type World = {
  readonly upstream: Upstream;
  readonly proxy: FaultProxy<Server>;
  readonly random: () => number;
  readonly manifests: number;
  /** How often each resource is to be written. */
  readonly wanted: Map<string, number>;
};

type Sample = { readonly kilobytes: number; readonly files: number };

/** Lets a daemon make passes, with a commit in every tenth and a fault in every fiftieth, and says what came of them. */
export async function soakDaemon({ passes, manifests, seed }: DaemonSoak): Promise<SoakReport> {
  const server = await serve();
  const proxy = await faultProxy(server);
  const services = Array.from({ length: manifests }, (_, nth) => serviceFile(nth, 1));
  const upstream = await upstreamOf({ ...foundations, ...Object.fromEntries(services) });
  const operator = await operatorOf(
    {
      sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
      targets: [{ name: "prod", interval: 3600 }],
    },
    proxy.server,
  );
  const memoryFile = join(operator.folder, "memory");
  const daemon = operator.start(["watch", "--no-wait", "--request-timeout", "1", "--concurrency", "64"], {
    NODE_OPTIONS: nodeOptions,
    SOAK_MEMORY_FILE: memoryFile,
  });
  await eventually("everything is created", () => /created/.test(daemon.stdout()), { withinMs: 120_000 });
  const foundationIds = ["cluster/dev", "workspace/dev:web", "ml-repo/registry"];
  const wanted = new Map([...foundationIds, ...services.map((_, nth) => identity(nth))].map((id) => [id, 1]));
  const world: World = { upstream, proxy, random: randomFrom(seed), manifests, wanted };
  const pass = makePass(join(operator.folder, ".holdfast"));
  const samples: Sample[] = [];
  const used: Point[] = [];
  let [commits, faults] = [0, 0];
  for (let nth = 1; nth <= passes; nth += 1) {
    const fault = nth % FAULT_EVERY === 0 ? injectFault(world) : null;
    if (nth % COMMIT_EVERY === 0) {
      commits += 1;
      await commit(world, commits);
    }
    const pid = await pass();
    samples.push(sampleOf(pid));
    if (nth % Math.ceil(passes / USED_SAMPLES) === 0) used.push({ at: nth, value: await usedBy(pid, memoryFile) });
    faults += fault?.hits() ?? 0;
    fault?.stop();
  }
  // What the last fault has left open is settled by the next passes.
  await eventually("nothing is missing", async () => {
    await pass();
    return missing(server, wanted).length === 0;
  });
  await pass();
  const warm = samples.slice(Math.floor(samples.length / 4));
  return {
    commits,
    faults,
    doubled: doubled(server, wanted),
    lost: missing(server, wanted),
    kilobytesPerPass: slope(leastOfEach(warm, Math.ceil(passes / 25))),
    usedKilobytesPerPass: slope(used.slice(Math.floor(used.length / 4))),
    peakMegabytes: Math.max(...samples.map(({ kilobytes }) => kilobytes)) / 1024,
    moreFiles: (warm.at(-1)?.files ?? 0) - (warm[0]?.files ?? 0),
  };
}

const identity = (nth: number): string => `service/dev:web/s${nth}`;

function serviceFile(nth: number, replicas: number): readonly [string, string] {
  return [`services/s${nth}.yaml`, service(`s${nth}`, `replicas: ${replicas}\n`)];
}

async function commit({ upstream, random, manifests, wanted }: World, nth: number): Promise<void> {
  const at = Math.floor(random() * manifests);
  const files: Files = Object.fromEntries([serviceFile(at, nth + 1)]);
  wanted.set(identity(at), (wanted.get(identity(at)) ?? 0) + 1);
  await upstream.commit(files);
}

function injectFault({ proxy, random }: World) {
  const [, fault] = kinds[Math.floor(random() * kinds.length)] ?? [];
  if (fault === undefined) throw new TypeError("there is no kind of fault");
  if (random() < 0.5) return proxy.inject("putApp", fault, { times: 1, dryRun: false });
  return proxy.inject(/./, fault, { times: 1, skip: Math.floor(random() * 4) });
}

/** Asks the daemon on a state folder for passes; each answers its process when it has ended. */
function makePass(state: string): () => Promise<number> {
  const { signal } = new AbortController();
  return async () => {
    const reply = await askDaemon(state, { method: "POST", path: "/reconcile" }, { signal });
    if (reply === null) throw new Error("the daemon has ended");
    return reply.pid;
  };
}

function sampleOf(pid: number): Sample {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { kilobytes: Number(kilobytes), files: readdirSync(`/proc/${pid}/fd`).length };
}

async function usedBy(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  await eventually("the daemon tells its memory", () => existsSync(file));
  return Number(readFileSync(file, "utf8"));
}

type Wanted = World["wanted"];

function writesOf(server: Server): ReadonlyMap<string, number> {
  const all = Map.groupBy(server.effects(), ({ resource }) => resource);
  return new Map([...all].map(([resource, effects]) => [resource, effects.length]));
}

function doubled(server: Server, wanted: Wanted): readonly string[] {
  return [...writesOf(server)].filter(([id, count]) => count > (wanted.get(id) ?? 0)).map(([id]) => id);
}

function missing(server: Server, wanted: Wanted): readonly string[] {
  const writes = writesOf(server);
  return [...wanted].filter(([id, count]) => (writes.get(id) ?? 0) < count).map(([id]) => id);
}

// Between two collections garbage comes and goes.
function leastOfEach(samples: readonly Sample[], size: number): readonly Point[] {
  const windows = Array.from({ length: Math.floor(samples.length / size) }, (_, nth) => nth * size);
  return windows.map((from) => {
    const least = Math.min(...samples.slice(from, from + size).map(({ kilobytes }) => kilobytes));
    return { at: from, value: least };
  });
}

type Point = { readonly at: number; readonly value: number };

function slope(points: readonly Point[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middle, level] = [mean(points.map(({ at }) => at)), mean(points.map(({ value }) => value))];
  const together = mean(points.map(({ at, value }) => (at - middle) * (value - level)));
  return together / mean(points.map(({ at }) => (at - middle) ** 2));
}

/** The report as one line. */
export function soakText({ passes, manifests, seed }: DaemonSoak, report: SoakReport): string {
  const { commits, faults, kilobytesPerPass, usedKilobytesPerPass, peakMegabytes } = report;
  const growth = `${kilobytesPerPass.toFixed(2)} kB a pass, ${usedKilobytesPerPass.toFixed(2)} kB of it in use`;
  const memory = `${growth}, at most ${peakMegabytes.toFixed(0)} MB`;
  return `${passes} passes over ${manifests} manifests, ${commits} commits, ${faults} faults, seed ${seed}: ${memory}\n`;
}
