import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type BreakableProxy, startBreakableProxy } from "../support/breakable-proxy.ts";
import { eventually } from "../support/eventually.ts";
import {
  type Asked,
  dropAfter,
  dropBefore,
  type Fault,
  faultProxy,
  type Injected,
  passOn,
} from "../support/fault-proxy.ts";
import { type Files, foundations, service, team } from "../support/manifests.ts";
import { type NetworkHost, NO_NETWORK, openNetwork } from "../support/network-hosts.ts";
import type { Postgres } from "../support/postgres.ts";
import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import { type ServerProcess, serveProcess } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import { operatorOf, type Upstream, upstreamOf } from "../support/upstream.ts";
import type { Findings } from "./sweep.ts";
import { identityOf, notAtRest } from "./trial.ts";

/** What happened to the machines of a fleet, and what was found. */
export type FleetSweep = Findings & {
  readonly losses: number;
  /** The longest time from a commit in which one machine was lost until it was applied. */
  readonly slowestMs: number;
};

/** How long a fleet is disturbed, and the database that it shares. */
export type FleetSweepOptions = {
  readonly commits: number;
  readonly seed: number;
  readonly isDocumentedOnly: boolean;
  readonly postgres: Postgres;
};

type FleetOptions = Pick<FleetSweepOptions, "isDocumentedOnly" | "postgres">;

/** One process, with connections of its own to the database and to the control plane, on a host of its own where hosts can be made. */
type Machine = {
  readonly host: NetworkHost | null;
  readonly operator: Source;
  readonly database: BreakableProxy;
  /** Puts a fault in the way of its requests to the control plane. */
  readonly inject: (fault: Fault, options?: { readonly skip: number; readonly times: number }) => Injected;
  readonly env: { readonly [name: string]: string };
  readonly skewFile: string;
  daemon: Running;
  /** Whether it was told or made to end. */
  isEnding: boolean;
};

type Fleet = {
  readonly server: ServerProcess;
  readonly upstream: Upstream;
  readonly machines: readonly Machine[];
  /** The effects that were there before the first commit. */
  readonly before: number;
};

const MACHINES = 3;
const names = ["a", "b", "c", "d"];
const keyText = "11".repeat(32);
// A pass may make so many, so that some losses meet a machine that has nothing to do.
const MAX_REQUESTS = 12;
const MAX_LOSS_MS = 14_000;
const APPLIED_MS = 120_000;
const HOUR_MS = 3_600_000;

/** Does something to a machine, and answers what takes it back. */
type Loss = (machine: Machine, random: () => number) => Promise<() => Promise<unknown>>;

async function end(machine: Machine, signal: NodeJS.Signals): Promise<() => Promise<unknown>> {
  machine.isEnding = true;
  machine.daemon.kill(signal);
  if (signal === "SIGKILL") await machine.daemon.ended;
  return async () => {
    await machine.daemon.ended;
    startOn(machine);
  };
}

function faulty(fault: Fault): Loss {
  return async ({ inject }) => {
    const { stop } = inject(fault);
    return async () => stop();
  };
}

const losses: { readonly [name: string]: Loss } = {
  "is killed": (machine) => end(machine, "SIGKILL"),
  "is told to end": (machine) => end(machine, "SIGTERM"),
  "is suspended": async ({ daemon }) => {
    daemon.kill("SIGSTOP");
    return async () => daemon.kill("SIGCONT");
  },
  "loses the network": async ({ host, database }) => {
    if (host === null) await database.disconnect();
    else host.disconnect();
    return async () => (host === null ? database.restore() : host.connect());
  },
  "loses the database": async ({ database }) => {
    await database.disconnect();
    return () => database.restore();
  },
  "gets no answer of the database": async ({ database }) => {
    database.stall();
    return async () => database.closeAll();
  },
  "loses the control plane": faulty(dropBefore),
  "loses the answers of the control plane": faulty(dropAfter),
  "has another system clock": async ({ daemon, skewFile }, random) => {
    writeFileSync(skewFile, `${Math.round((random() - 0.5) * 2 * HOUR_MS)}`);
    daemon.kill("SIGUSR2");
    return async () => {};
  },
};

/** Lets three processes share the passes of four targets, loses some of them in every commit, and finds what was lost or doubled. */
export async function sweepFleet({ commits, seed, ...options }: FleetSweepOptions): Promise<FleetSweep> {
  const random = randomFrom(seed);
  const fleet = await startFleet(options);
  let [lost, slowestMs] = [0, 0];
  for (let nth = 1; nth <= commits; nth += 1) {
    const drawn = drawLosses(fleet, random);
    const what = drawn.map(({ at, name, after, forMs }) => `${at} ${name} after ${after} for ${forMs} ms`).join(", ");
    const tookMs = await tryLosses(fleet, nth, drawn).catch((cause: unknown) => {
      throw new Error(`seed ${seed}, commit ${nth}: ${what}\n${logsOf(fleet)}`, { cause });
    });
    process.stdout.write(`seed ${seed}, commit ${nth}: ${what}\n`);
    lost += drawn.length;
    if (drawn.length === 1) slowestMs = Math.max(slowestMs, tookMs);
  }
  return { losses: lost, slowestMs, ...(await endFleet(fleet, commits)) };
}

async function startFleet({ isDocumentedOnly, postgres }: FleetOptions): Promise<Fleet> {
  const { folder: seeds } = await sourceOf(foundations);
  const server = await serveProcess(["--seed", seeds, ...(isDocumentedOnly ? ["--documented-only"] : [])]);
  const before = server.effects().length;
  const proxy = await faultProxy(server);
  const upstream = await upstreamOf(filesOf(0));
  const config = { sources: [{ name: "platform", url: upstream.folder }], targets: [{ name: "{dir}", each: "t/*" }] };
  const network = await openNetwork(MACHINES);
  onTestFinished(async () => network?.[Symbol.asyncDispose]());
  if (network === null) process.stdout.write(`${NO_NETWORK}\n`);
  const here = network?.address ?? "127.0.0.1";
  const { port } = await startBreakableProxy(Number(new URL(proxy.url).port), here);
  const machines = await Promise.all(
    Array.from({ length: MACHINES }, async (_, at): Promise<Machine> => {
      const database = await startBreakableProxy(postgres.port, here);
      const url = new URL(postgres.url);
      url.host = `${here}:${database.port}`;
      const isOwn = ({ headers }: Asked): boolean => headers["x-machine"] === `${at}`;
      const operator = await operatorOf(config, { ...proxy.server, url: `http://${here}:${port}` });
      const host = network?.hosts[at] ?? null;
      const skewFile = join(operator.folder, "skew");
      const env = {
        ...{ HOLDFAST_STATE: url.href, HOLDFAST_STATE_KEY: keyText, HOLDFAST_CACHE: "on" },
        ...{ SOAK_MACHINE: `${at}`, SOAK_SKEW_FILE: skewFile },
        NODE_OPTIONS: `--max-semi-space-size=16 --import=${join(import.meta.dirname, "fleet-machine.ts")}`,
      };
      const inject: Machine["inject"] = (fault, options) => proxy.inject(isOwn, fault, options);
      const daemon = watchOn({ operator, env, host });
      return { operator, host, database, inject, env, skewFile, isEnding: false, daemon };
    }),
  );
  const fleet = { server, upstream, machines, before };
  await applied(fleet, 0);
  return fleet;
}

const flags = ["--workers", "2", "--interval", "1", "--no-wait", "--request-timeout", "2", "--connect-timeout", "2"];

function watchOn({ operator, env, host }: Pick<Machine, "operator" | "env" | "host">): Running {
  return operator.start(["watch", ...flags], env, host?.through);
}

function startOn(machine: Machine): void {
  machine.daemon = watchOn(machine);
  machine.isEnding = false;
}

type Drawn = { readonly at: number; readonly name: string; readonly after: number; readonly forMs: number };

function drawLosses({ machines }: Fleet, random: () => number): readonly (Drawn & { readonly loss: () => Undo })[] {
  const all = Object.entries(losses);
  const count = 1 + Math.floor(random() ** 2 * machines.length);
  const order = machines.map((machine, at) => ({ machine, at, rank: random() }));
  const chosen = order.toSorted((one, other) => one.rank - other.rank).slice(0, count);
  return chosen.map(({ machine, at }) => {
    const [name, loss] = all[Math.floor(random() * all.length)] ?? [];
    if (name === undefined || loss === undefined) throw new TypeError("there is no loss");
    const [after, forMs] = [Math.floor(random() * MAX_REQUESTS), Math.floor(random() * MAX_LOSS_MS)];
    return { at, name, after, forMs, loss: () => loss(machine, random) };
  });
}

type Undo = Promise<() => Promise<unknown>>;

async function tryLosses(fleet: Fleet, nth: number, drawn: ReturnType<typeof drawLosses>): Promise<number> {
  const { machines, upstream } = fleet;
  const moments = drawn.map(({ at, after }) => machines[at]?.inject(passOn, { skip: after, times: 1 }));
  const began = performance.now();
  await upstream.commit(filesOf(nth));
  const done = applied(fleet, nth);
  await Promise.all(
    drawn.map(async ({ loss, forMs }, index) => {
      await Promise.race([moments[index]?.hit, done]);
      moments[index]?.stop();
      const undo = await loss();
      await pause(forMs);
      await undo();
    }),
  );
  await done;
  const tookMs = performance.now() - began;
  requireOnce(fleet, nth);
  for (const { daemon, isEnding } of machines) {
    if (!isEnding) await Promise.race([daemon.ended.then(ended), pause(0)]);
  }
  return tookMs;
}

// At the end, a write that was doubled and one that was left out for a later commit would make the right number.
function requireOnce({ server, before }: Fleet, nth: number): void {
  const all = Map.groupBy(server.effects().slice(before), identityOf);
  const more = [...all].filter(([, { length }]) => length > nth + 1).map(([identity]) => identity);
  if (more.length > 0) throw new Error(`written twice: ${more.join(", ")}`);
}

function ended(): never {
  throw new Error("a process has ended by itself");
}

async function endFleet(fleet: Fleet, commits: number): Promise<Findings> {
  const { machines, server, upstream, before } = fleet;
  const head = (await upstream.git("rev-parse", "HEAD")).trim();
  const wronglyReported: string[] = [];
  for (const { operator, env } of machines) {
    const atHead = async (): Promise<boolean> => {
      const { targets } = JSON.parse((await operator.runHere(["status", "-o", "json"], env)).stdout);
      return targets.every((one: Status) => one.sync === "Synced" && one.appliedRevision === head);
    };
    await eventually("the status of every machine is that of the last commit", atHead, { withinMs: APPLIED_MS }).catch(
      (error: Error) => wronglyReported.push(`${error.message}\n${logsOf(fleet)}`),
    );
  }
  for (const machine of machines) machine.daemon.kill("SIGTERM");
  for (const { daemon } of machines) {
    const { code } = await daemon.ended;
    // One that was started again at last may not have begun yet.
    const wasStarting = code === TERMINATED && daemon.stdout() === "";
    if (code !== 0 && !wasStarting)
      wronglyReported.push(`a process that was told to end ends with ${code}: ${daemon.stderr()}`);
  }
  for (const name of names) {
    const since = server.effects().length;
    const apply = ["apply", "--target", name, "--yes", "--no-wait", "-o", "json"];
    const again = await machines[0]?.operator.runHere(apply, machines[0].env);
    if (again !== undefined)
      wronglyReported.push(...notAtRest({ ended: again, effects: server.effects().slice(since) }));
  }
  const written = Map.groupBy(server.effects().slice(before), identityOf);
  const told = [...written].map(([identity, { length }]) => ({ identity, more: length - commits - 1 }));
  server.process.kill("SIGKILL");
  await server.process.ended;
  return {
    doubled: told.filter(({ more }) => more > 0).map(({ identity, more }) => `${identity}: ${more} more`),
    lost: told.filter(({ more }) => more < 0).map(({ identity, more }) => `${identity}: ${-more} fewer`),
    wronglyReported,
  };
}

const TERMINATED = 143;

type Status = { readonly sync: string; readonly appliedRevision: string | null };

function logsOf({ machines }: Fleet): string {
  return machines.map(({ daemon }, at) => `machine ${at}:\n${daemon.stdout()}${daemon.stderr()}`).join("\n");
}

const written = names.flatMap((name) => [`service/dev:web/${name}`, `team/${name}`]);

function applied({ server, before }: Pick<Fleet, "server" | "before">, nth: number): Promise<boolean> {
  const isApplied = (): boolean => {
    const effects = Map.groupBy(server.effects().slice(before), identityOf);
    return written.every((identity) => (effects.get(identity)?.length ?? 0) > nth);
  };
  return eventually(`commit ${nth} is applied`, isApplied, { withinMs: APPLIED_MS });
}

/** The files of the nth commit, each of which changes every resource. */
function filesOf(nth: number): Files {
  const files = names.map((name) => [
    [`t/${name}/service.yaml`, service(name, `replicas: ${nth + 1}\n`)],
    [`t/${name}/team.yaml`, team(name, `member-${nth}@example.com`)],
  ]);
  return Object.fromEntries(files.flat());
}
