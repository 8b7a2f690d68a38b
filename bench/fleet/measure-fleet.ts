import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { parse } from "yaml";
import { type NetworkHost, NO_NETWORK, openNetwork } from "../../test/support/network-hosts.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { DAEMON, daemonEnvironment } from "../daemon.ts";
import { startHoldfastServe, TOKEN } from "../start-control-plane.ts";
import { type BenchServer, busyMilliseconds, endProcess, peakMegabytes } from "../start-server.ts";
import { type CountingGate, openGate } from "./counting-gate.ts";
import { fillControlPlane } from "./fill-control-plane.ts";
import { changeRepository, service, writeRepository } from "./repository.ts";

/** How much a fleet looks after, and how many processes it has. */
export type FleetSize = {
  readonly repositories: number;
  /** Manifests of each repository. */
  readonly manifests: number;
  readonly machines: number;
  /** Passes at once in each process. */
  readonly workers: number;
};

/** What some passes over everything took, all processes of the fleet together. */
type Passes = {
  readonly milliseconds: number;
  readonly busyMilliseconds: number;
  /** For how long they kept a processor of the control plane busy. */
  readonly serverMilliseconds: number;
  readonly requests: number;
};

/** What was measured of a fleet. */
export type FleetFigures = {
  /** The first pass over every target: what exists is compared and recorded, and the services of the last one are created. */
  readonly first: Passes;
  /** From a push until the control plane has what it declares. */
  readonly pushMs: number;
  /** A full pass over every target with nothing to do. */
  readonly verified: Passes;
  /** The same with a control plane without digests. */
  readonly listed: Passes;
  /** The same in one process, which shares no passes, over so many of the repositories. */
  readonly single: Passes & { readonly repositories: number };
  /** The most memory that a process of the fleet has had. */
  readonly peakMegabytes: number;
};

// One process keeps what all its sources declare, 2 kB for each manifest, and passes over more than 200,000 begin anew each time.
const MOST_IN_ONE_PROCESS = 300_000;

const KEY = "11".repeat(32);
const SECRET = "bench-only-webhook-secret";

type World = {
  readonly folder: string;
  readonly size: FleetSize;
  readonly server: BenchServer;
  readonly gate: CountingGate;
  readonly env: NodeJS.ProcessEnv;
};

/** A process of the fleet, with a folder of its own. */
type Machine = { readonly folder: string; readonly process: ChildProcess; readonly pid: number };

const LOOPBACK = "127.0.0.1";

function addressAt(address: string, host: string): string {
  const url = new URL(address);
  url.hostname = host;
  return url.href;
}

/** Lets a fleet create everything, and measures its passes when there is nothing left to do. */
export async function measureFleet(size: FleetSize, note: (line: string) => void): Promise<FleetFigures> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-fleet-"));
  await using resources = new AsyncDisposableStack();
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const network = await openNetwork(size.machines);
  if (network === null) note(NO_NETWORK);
  else resources.use(network);
  const { address: here = LOOPBACK, hosts = [] } = network ?? {};
  const postgres = resources.use(await startPostgres(network === null ? {} : { address: here }));
  const names = Array.from({ length: size.repositories }, (_, nth) => `r${String(nth).padStart(3, "0")}`);
  note(`${size.repositories} repositories of ${size.manifests} manifests`);
  const server = await startFilled(join(folder, "control-plane"), names, size);
  resources.defer(() => server.stop());
  const gate = resources.use(await openGate(server.url, here));
  const env = {
    ...daemonEnvironment(),
    ...{ HOLDFAST_SERVER: gate.url, HOLDFAST_TOKEN: TOKEN, HOLDFAST_CACHE: "on" },
    ...{
      HOLDFAST_STATE: addressAt(postgres.url, here),
      HOLDFAST_STATE_KEY: KEY,
      HOLDFAST_CONFIG: join(folder, "operator.yaml"),
    },
  };
  const world: World = { folder, size, server, gate, env };
  writeRepositories(world, names);
  writeOperator(world, names);
  const machines = Array.from({ length: size.machines }, (_, nth) =>
    startMachine(world, `machine-${nth}`, { flags: ["--workers", `${size.workers}`], host: hosts[nth] }),
  );
  resources.defer(() => stopAll(machines));
  note("the first passes");
  const first = await measured(world, machines, () => firstPasses(world, machines));
  note(`a push, after ${(first.milliseconds / 1000).toFixed(0)} s`);
  const pushMs = await measurePush(world, machines.at(-1));
  note("passes with nothing to do");
  // The first reads what others have changed meanwhile, and the second only the digests of that, as all further ones.
  await passOverAll(world, machines[0]);
  await passOverAll(world, machines[0]);
  const verified = await measured(world, machines, () => passOverAll(world, machines[0]));
  note("passes with nothing to do, by lists");
  gate.refuseDigests();
  await passOverAll(world, machines[0]);
  const listed = await measured(world, machines, () => passOverAll(world, machines[0]));
  const peak = Math.max(...machines.map(({ pid }) => peakMegabytes(pid)));
  await stopAll(machines);
  note("passes with nothing to do, by lists, in one process");
  const some = names.slice(0, Math.max(1, Math.floor(MOST_IN_ONE_PROCESS / size.manifests)));
  writeOperator(world, some);
  const alone = [startMachine(world, "alone", { flags: [], host: hosts[0] })];
  resources.defer(() => stopAll(alone));
  await passOverAll(world, alone[0]);
  const single = { ...(await measured(world, alone, () => passOverAll(world, alone[0]))), repositories: some.length };
  return { first, pushMs, verified, listed, single, peakMegabytes: peak };
}

/** Starts a control plane that has what all repositories but the last one declare. */
async function startFilled(data: string, names: readonly string[], { manifests }: FleetSize): Promise<BenchServer> {
  const empty = await startHoldfastServe(data);
  await put(empty.url, "clusters", { type: "cluster", name: "bench", cluster_type: "generic" });
  const filled = names.slice(0, -1);
  for (const name of filled) await put(empty.url, "workspaces", { type: "workspace", name, cluster_fqn: "bench" });
  const [first] = filled;
  if (first !== undefined) await put(empty.url, "apps", parse(service(first, 0)));
  await empty.stop();
  if (first !== undefined) fillControlPlane(join(data, "control-plane.db"), filled, manifests - 1);
  return startHoldfastServe(data);
}

function writeRepositories({ folder, size }: World, names: readonly string[]): void {
  for (const name of names)
    writeRepository(join(folder, "repositories", name), { workspace: name, manifests: size.manifests });
  writeFileSync(join(folder, "secret"), SECRET);
}

function writeOperator({ folder }: World, names: readonly string[]): void {
  const operator = {
    sources: names.map((name) => ({
      name,
      url: join(folder, "repositories", name),
      webhookSecretFile: join(folder, "secret"),
    })),
    targets: names.map((name) => ({ name, source: name })),
  };
  writeFileSync(join(folder, "operator.yaml"), JSON.stringify(operator));
}

type MachineOptions = { readonly flags: readonly string[]; readonly host: NetworkHost | undefined };

function startMachine({ folder, env }: World, name: string, { flags, host }: MachineOptions): Machine {
  const own = join(folder, name);
  mkdirSync(own);
  const log = openSync(join(own, "log"), "a");
  const listening = `${host?.address ?? LOOPBACK}:0`;
  const args = ["watch", "--no-wait", "--interval", "3600", "--listen", listening, "-o", "text", ...flags];
  const [command = DAEMON, ...before] = host === undefined ? [] : [...host.through, DAEMON];
  const child = spawn(command, [...before, ...args], { cwd: own, env, stdio: ["ignore", log, log] });
  return { folder: own, process: child, pid: child.pid ?? 0 };
}

async function stopAll(machines: readonly Machine[]): Promise<void> {
  for (const { process } of machines) await endProcess(process);
}

async function measured(
  { server, gate }: World,
  machines: readonly Machine[],
  work: () => Promise<void>,
): Promise<Passes> {
  const busyOfAll = (): number => machines.reduce((sum, { pid }) => sum + busyMilliseconds(pid), 0);
  const [began, busy, serverBusy, requests] = [
    performance.now(),
    busyOfAll(),
    server.busyMilliseconds(),
    gate.requests(),
  ];
  await work();
  return {
    milliseconds: performance.now() - began,
    busyMilliseconds: busyOfAll() - busy,
    serverMilliseconds: server.busyMilliseconds() - serverBusy,
    requests: gate.requests() - requests,
  };
}

async function passOverAll({ env }: World, machine: Machine | undefined): Promise<void> {
  // A daemon that has just started has no socket yet.
  for (;;) {
    const { code, text } = await holdfast(["reconcile", "-o", "json"], { env, machine });
    if (code === 0) return;
    requireRunning(machine);
    if (!text.includes("no daemon runs")) throw new Error(`reconcile ends with ${code}: ${text.slice(0, 1000)}`);
    await wait(500);
  }
}

// Read from the logs, since a status of all targets would take processor time from the passes.
async function firstPasses({ size }: World, machines: readonly Machine[]): Promise<void> {
  for (;;) {
    const logs = machines.map(({ folder }) => readFileSync(join(folder, "log"), "utf8"));
    const passed = new Set(
      logs.flatMap((log) => [...log.matchAll(/^(\S+): \S+ idle until /gm)].map(([, name]) => name)),
    );
    if (passed.size === size.repositories) return;
    for (const machine of machines) requireRunning(machine);
    await wait(ASK_AGAIN_MS);
  }
}

function requireRunning(machine: Machine | undefined): void {
  if (machine === undefined) throw new TypeError("there is no process");
  const { folder, process } = machine;
  if (process.exitCode === null && process.signalCode === null) return;
  throw new Error(`a process has ended: ${readFileSync(join(folder, "log"), "utf8").slice(-2000)}`);
}

const ASK_AGAIN_MS = 500;

async function holdfast(
  args: readonly string[],
  { env, machine }: { readonly env: NodeJS.ProcessEnv; readonly machine: Machine | undefined },
): Promise<{ readonly code: number | null; readonly text: string }> {
  if (machine === undefined) throw new TypeError("there is no process");
  const child = spawn(DAEMON, args, { cwd: machine.folder, env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const [code] = await once(child, "close");
  return { code, text };
}

/** Commits, and tells one of the processes by a webhook. */
async function measurePush({ folder, gate }: World, machine: Machine | undefined): Promise<number> {
  changeRepository(join(folder, "repositories", "r000"), "r000");
  const log = readFileSync(join(machine?.folder ?? "", "log"), "utf8");
  const [, listening = ""] = /^health and metrics on (http:\S+)$/m.exec(log) ?? [];
  const began = performance.now();
  const told = await fetch(`${listening}/hooks/r000`, { method: "POST", headers: { "x-gitlab-token": SECRET } });
  if (!told.ok) throw new Error(`the webhook is refused with ${told.status}`);
  for (;;) {
    const path = "/api/svc/v1/apps?fqn=bench:r000:s0";
    const answer = await fetch(gate.uncounted + path, { headers: { authorization: `Bearer ${TOKEN}` } });
    if ((await answer.text()).includes('"replicas":7')) return performance.now() - began;
    await wait(20);
  }
}

async function put(server: string, kind: string, manifest: object): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const answer = await fetch(`${server}/api/svc/v1/${kind}`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ manifest }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}
