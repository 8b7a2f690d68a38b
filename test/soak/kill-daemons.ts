import { eventually } from "../support/eventually.ts";
import { passOn } from "../support/fault-proxy.ts";
import { type Files, foundations, prompt, service, team } from "../support/manifests.ts";
import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import type { Source } from "../support/source.ts";
import { operatorOf, type Upstream, upstreamOf } from "../support/upstream.ts";
import type { Behind, ControlPlaneSort } from "./control-planes.ts";
import { type Findings, record, type SweepResult } from "./sweep.ts";
import { identityOf, notAtRest } from "./trial.ts";

const signals = ["SIGKILL", "SIGSTOP", "SIGTERM"] as const;

/** A moment of a pass, and what happens to the process that makes it. */
type Kill = {
  readonly nth: number;
  readonly signal: (typeof signals)[number];
  /** How many requests pass before. */
  readonly after: number;
};

/** Two daemons that follow one repository: one writes, the other one stands by. */
type Pair = {
  readonly sort: ControlPlaneSort;
  readonly behind: Behind;
  readonly upstream: Upstream;
  readonly flags: readonly string[];
  /** The effects that were there before the first commit. */
  readonly before: number;
  leader: Member;
  standby: Member;
  slowestTakeoverMs: number;
};

type Member = { readonly operator: Source; readonly daemon: Running };

// More than a pass makes, so that some kills meet a daemon that has nothing to do.
const MAX_REQUESTS = 30;
const TAKEOVER_MS = 15_000;

/** Ends and stops the leader of two daemons at random moments, and finds out whether the other one goes on where it was. */
export async function sweepKilledDaemons(
  sort: ControlPlaneSort,
  { kills, leaseSeconds, seed }: { readonly kills: number; readonly leaseSeconds: number; readonly seed: number },
): Promise<SweepResult> {
  const random = randomFrom(seed);
  const drawn = Array.from(
    { length: kills },
    (_, index): Kill => ({
      nth: index + 1,
      signal: signals[Math.floor(random() * signals.length)] ?? "SIGKILL",
      after: Math.floor(random() * MAX_REQUESTS),
    }),
  );
  const pair = await startPair(sort, leaseSeconds);
  for (const kill of drawn) {
    await tryKill(pair, kill).catch((cause: unknown) => {
      throw new Error(`${sort.name}, seed ${seed}: ${kill.signal} ${kill.nth} after ${kill.after} requests`, { cause });
    });
  }
  const findings = await endPair(pair, kills);
  process.stdout.write(`${sort.name}: the slowest takeover took ${Math.round(pair.slowestTakeoverMs)} ms\n`);
  const counts = { killPoints: kills, faults: 0, randomSteps: 0 };
  const whole = { sweep: "killed daemons", on: sort.name, seed, ...counts, ...findings } as const;
  record(whole);
  return whole;
}

async function startPair(sort: ControlPlaneSort, leaseSeconds: number): Promise<Pair> {
  const behind = await sort.start();
  const before = behind.server.effects().length;
  const upstream = await upstreamOf(commit(0));
  const config = {
    sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
    targets: [{ name: "prod", interval: 0.3 }],
  };
  const one = await operatorOf(config, behind.proxy.server);
  // Leases keep two state folders apart, and the lock of a state folder those who share it.
  const other = sort.name === "full" ? await operatorOf(config, behind.proxy.server) : one;
  const waits = sort.name === "full" ? ["--lease-seconds", `${leaseSeconds}`] : ["--request-timeout", "1"];
  const flags = ["watch", "--no-wait", "--sink", "file", ...waits];
  const leader = { operator: one, daemon: one.start(flags) };
  await eventually("the first commit is applied", () => isApplied({ behind, before }, 0));
  const standby = await standBy({ operator: other, flags });
  return { sort, behind, upstream, flags, before, leader, standby, slowestTakeoverMs: 0 };
}

async function standBy({ operator, flags }: Pick<Member, "operator"> & Pick<Pair, "flags">): Promise<Member> {
  const daemon = operator.start(flags);
  await daemon.shows("stderr", STANDING_BY);
  return { operator, daemon };
}

const STANDING_BY = /^standing by: /m;
const TAKING_OVER = /^taking over$/m;

async function tryKill(pair: Pair, { nth, signal, after }: Kill): Promise<void> {
  const { behind, upstream } = pair;
  const moment = behind.proxy.inject(/./, passOn, { skip: after, times: 1 });
  await upstream.commit(commit(nth));
  await Promise.race([moment.hit, applied(pair, nth)]);
  moment.stop();
  pair.leader.daemon.kill(signal);
  if (signal === "SIGSTOP") await sleepThrough(pair);
  else await replace(pair);
  await applied(pair, nth);
}

async function replace(pair: Pair): Promise<void> {
  const { leader } = pair;
  await takeOver(pair);
  await leader.daemon.ended;
  pair.standby = await standBy({ operator: leader.operator, flags: pair.flags });
}

async function sleepThrough(pair: Pair): Promise<void> {
  const { leader, behind, sort } = pair;
  if (sort.name === "full") {
    const since = times(leader.daemon, STANDING_BY);
    await takeOver(pair);
    leader.daemon.kill("SIGCONT");
    await eventually("the former leader stands by", () => times(leader.daemon, STANDING_BY) > since);
    pair.standby = leader;
    return;
  }
  // It holds the lock while it sleeps.
  await behind.proxy.idle();
  if (times(pair.standby.daemon, TAKING_OVER) > 0) throw new Error("a lock that is held was taken");
  leader.daemon.kill("SIGCONT");
}

async function takeOver(pair: Pair): Promise<void> {
  const { standby } = pair;
  const since = times(standby.daemon, TAKING_OVER);
  const began = performance.now();
  await eventually("the standby takes over", () => times(standby.daemon, TAKING_OVER) > since, {
    withinMs: TAKEOVER_MS,
  });
  pair.slowestTakeoverMs = Math.max(pair.slowestTakeoverMs, performance.now() - began);
  pair.leader = standby;
}

function times({ stderr }: Running, pattern: RegExp): number {
  return [...stderr().matchAll(new RegExp(pattern, "gm"))].length;
}

// Everything has ended, and a run with the state of each finds what is live equal to the repository.
async function endPair(pair: Pair, kills: number): Promise<Findings> {
  const { leader, standby, behind, sort } = pair;
  for (const { daemon } of [standby, leader]) {
    daemon.kill("SIGTERM");
    await daemon.ended;
  }
  const wronglyReported: string[] = [];
  for (const { operator } of new Set([leader, standby])) {
    const since = behind.server.effects().length;
    const ended = await operator.run(["apply", "--yes", "-o", "json", "--sink", "file"]);
    wronglyReported.push(...notAtRest({ ended, effects: behind.server.effects().slice(since) }));
  }
  const [found, wanted] = [writesOf(pair), wantedWrites(pair, kills)];
  const told = (identity: string): string =>
    `${sort.name}: ${identity} was written ${found.get(identity) ?? 0} times, and not ${wanted.get(identity) ?? 0}`;
  const identities = [...new Set([...found.keys(), ...wanted.keys()])];
  const more = (identity: string): number => (found.get(identity) ?? 0) - (wanted.get(identity) ?? 0);
  behind.server.process.kill("SIGKILL");
  await behind.server.process.ended;
  return {
    doubled: identities.filter((identity) => more(identity) > 0).map(told),
    lost: identities.filter((identity) => more(identity) < 0).map(told),
    wronglyReported,
  };
}

type Written = Pick<Pair, "behind" | "before">;

function writesOf({ behind, before }: Written): ReadonlyMap<string, number> {
  const effects = behind.server.effects().slice(before);
  return new Map([...Map.groupBy(effects, identityOf)].map(([identity, all]) => [identity, all.length]));
}

const changed = ["service/dev:web/worker", "chat_prompt/registry/greeting", "team/ml"];

function wantedWrites({ sort }: Pair, commits: number): ReadonlyMap<string, number> {
  const once = sort.name === "full" ? ["cluster/dev", "workspace/dev:web", "ml-repo/registry"] : [];
  return new Map([
    ...once.map((identity) => [identity, 1] as const),
    ...changed.map((identity) => [identity, 1 + commits] as const),
  ]);
}

function isApplied(pair: Written, nth: number): boolean {
  const writes = writesOf(pair);
  return changed.every((identity) => (writes.get(identity) ?? 0) > nth);
}

function applied(pair: Pair, nth: number): Promise<boolean> {
  return eventually(`commit ${nth} is applied`, () => isApplied(pair, nth));
}

/** The files of the nth commit, each of which changes every resource but the foundations. */
function commit(nth: number): Files {
  return {
    ...foundations,
    "worker.yaml": service("worker", `replicas: ${nth + 1}\n`),
    "greeting.yaml": prompt("greeting", `Be kind, ${nth} times.`),
    "team.yaml": team("ml", `member-${nth}@example.com`),
  };
}
