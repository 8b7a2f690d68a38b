import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PassThrough, Writable } from "node:stream";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/clock/clock.ts";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { createWarnings } from "../../src/commands/output/warnings.ts";
import type { CommandTarget } from "../../src/commands/targets/create-target.ts";
import { findTargets } from "../../src/commands/targets/find-targets.ts";
import { errorMessage } from "../../src/contract/error-message.ts";
import { HoldfastError } from "../../src/core/errors.ts";
import { keptMemories, MOST_MANIFESTS } from "../../src/daemon/kept-memories.ts";
import type { PassQueue } from "../../src/daemon/pass-queue.ts";
import { runPasses } from "../../src/daemon/run-passes.ts";
import type { TargetPass } from "../../src/daemon/target-pass.ts";
import { createElection } from "../../src/engine/lease/leader.ts";
import { shareCommitReads } from "../../src/source/git/share-commit-reads.ts";
import { withBackoff } from "../../src/source/remote/with-backoff.ts";
import { temporaryFolder } from "../support/folder.ts";
import { foundations, service } from "../support/manifests.ts";
import { randomFrom } from "../support/random.ts";
import { type RolloutMode, type RolloutRequest, rolloutProxy } from "../support/rollout-proxy.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

/** What the sweep of stages did, and where production began before it was allowed to. */
export type StageSweep = {
  readonly faults: readonly string[];
  readonly commits: number;
  readonly passes: number;
  readonly kills: number;
  readonly clockJumps: number;
  readonly started: number;
};

const INTERVAL_MS = 10_000;
const SOAK_MS = 25_000;
const HOUR_MS = 3_600_000;
const NAMES = ["api", "worker"] as const;
/** As many passes of both targets as a healthy commit may take to get through. */
const MOST_ROUNDS = 12;
/** What happens to one commit before staging is left alone. */
const STEPS = 8;

/** A time that only the sweep moves; a change of the system clock moves `now` alone, as on a machine. */
function movedTime() {
  let [elapsed, skew, boot] = [0, 0, 0];
  const never: Disposable = { [Symbol.dispose]: () => {} };
  const clock: Clock = {
    ...systemClock,
    now: () => Date.UTC(2026, 10, 28) + elapsed + skew,
    monotonic: () => elapsed - boot,
    sleep: async (milliseconds, { signal, ref = true } = {}) => {
      // What goes on in the background, such as the renewal of a lease, is no reason for the time to pass.
      if (!ref) return systemClock.sleep(milliseconds, { ref, ...(signal === undefined ? {} : { signal }) });
      signal?.throwIfAborted();
      elapsed += milliseconds;
      await systemClock.turn();
      signal?.throwIfAborted();
    },
    after: () => never,
    every: () => never,
  };
  return {
    clock,
    elapsed: () => elapsed,
    advance: (milliseconds: number) => {
      elapsed += milliseconds;
    },
    setSystemClock: (by: number) => {
      skew += by;
    },
    /** The monotonic time of a new process has another beginning. */
    restart: (random: () => number) => {
      boot = elapsed - Math.floor(random() * HOUR_MS);
    },
  };
}

type Time = ReturnType<typeof movedTime>;

/** One process of the daemon, whose passes begin when the sweep says so. */
async function startDaemon(config: string, cwd: string, { clock }: Time, shared: Shared) {
  const stopping = new AbortController();
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = {
    ...{ stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {}, cwd, clock, random: systemRandom },
    ...{ program: import.meta.dirname, version: "0.0.0", commit: () => null, stop: () => {} },
    ...{ stopping: stopping.signal, signal: stopping.signal, warnings: createWarnings(stderr, { isStrict: false }) },
  };
  const flags = { config, waitTimeout: 5, interval: INTERVAL_MS / 1000, partial: true };
  const invocation = { args: [], flags, terminal, shared: { remotes: shared.remotes() } };
  const opened = await findTargets(invocation, { reading: false, unattended: true, follows: true });
  const passes = new Map<string, TargetPass>();
  const failures: string[] = [];
  const running = opened.targets.map((target) => {
    const ready = Promise.withResolvers<void>();
    const queue: PassQueue = {
      machine: null,
      enqueue: () => {},
      enqueueAfter: () => {},
      passed: async () => {},
      [Symbol.asyncDispose]: async () => {},
      between: (_target, command) => command(),
      work: (name, pass, { signal }) => {
        passes.set(name, pass);
        ready.resolve();
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
    };
    const election = createElection({ clock });
    const ended = runPasses(target, {
      ...{ clock, random: systemRandom, stopping: stopping.signal, signal: stopping.signal, emit: () => {} },
      ...{ replaced: new AbortController().signal, isReloaded: false, memories: keptMemories(MOST_MANIFESTS) },
      ...{
        name: target.name,
        sourceDigest: null,
        settingsDigest: () => "",
        serverName: "embedded",
        isAlone: false,
        queue,
        election,
        sync: "heal",
      },
      ...{ intervalMs: INTERVAL_MS, driftIntervalMs: INTERVAL_MS, onTakeover: () => {}, onWorked: () => {} },
      onFailure: (error) => failures.push(errorMessage(error)),
      ...{
        onRecall: () => {},
        onPassBegin: () => {},
        onPassDropped: () => {},
        onPassEnd: async () => {},
        onFatal: async () => {},
      },
    }).catch((error: unknown) => {
      if (!stopping.signal.aborted) throw error;
    });
    return { ready: ready.promise, ended, election };
  });
  await Promise.all(running.map(({ ready }) => ready));
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("killed"));
    await Promise.all(running.map(({ ended }) => ended));
    // The control plane has a clock of its own, by which the lease of a killed process would last for seconds.
    for (const { election } of running) await election[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  };
  return {
    failures,
    targets: new Map(opened.targets.map((target) => [target.name, target])),
    abort: () => stopping.abort(new Error("killed")),
    stop,
    pass: async (name: string): Promise<void> => {
      const due = {
        job: { target: name, scope: "all", cause: "request" },
        losses: 0,
        stopWaiting: stopping.signal,
      } as const;
      await passes.get(name)?.(due);
    },
  };
}

type Shared = { readonly remotes: () => Map<string, ReturnType<typeof withBackoff>> };

/** A remote whose newest commit the sweep sets, so that no pass starts git to fetch. */
function setRemote(folder: string, commits: readonly string[], newest: () => number, clock: Clock): Shared {
  const gitFolder = join(folder, ".git");
  return {
    remotes: () => {
      const remote = withBackoff(
        {
          ...{ name: "platform", ref: "main" },
          repository: shareCommitReads({ top: null, gitFolder, commonFolder: gitFolder }, clock),
          fetch: async () => ({ commit: commits[newest()] ?? "", before: null, change: "forward" }),
          between: async (after, upTo) =>
            commits.slice(after === null ? 0 : commits.indexOf(after) + 1, commits.indexOf(upTo) + 1),
          ...{ keep: async () => {}, kept: async () => null, has: async () => true },
          ...{ deepen: async () => {}, discard: () => {} },
        },
        clock,
      );
      return new Map([["platform", remote]]);
    },
  };
}

const filesOf = (nth: number) => ({
  ...foundations,
  ...Object.fromEntries(NAMES.map((name) => [`${name}.yaml`, service(name, `replicas: ${nth + 1}\n`)])),
});

/** Draws cases of one commit each, and looks at each first write to production. */
export async function sweepStages({
  cases,
  seed,
  isDocumentedOnly = false,
  soakMs = SOAK_MS,
}: SweepSize): Promise<StageSweep> {
  const random = randomFrom(seed);
  const drawn = (most: number): number => Math.floor(random() * most);
  const time = movedTime();
  const { folder: seeds } = await sourceOf(foundations);
  const place = ["--seed", seeds, ...(isDocumentedOnly ? ["--documented-only"] : [])];
  const [staging, production] = await Promise.all([serve(place), serve(place)]);
  const upstream = await upstreamOf(filesOf(0));
  await upstream.importCommits(cases, (at) => filesOf(at + 1));
  const commits = (await upstream.git("rev-list", "--reverse", "main")).trim().split("\n");
  const found = { faults: [] as string[], passes: 0, kills: 0, clockJumps: 0, started: 0 };
  let [newest, killIn] = [0, Number.POSITIVE_INFINITY];
  let mode: RolloutMode = "healthy";
  let daemon: Awaited<ReturnType<typeof startDaemon>> | null = null;
  let writing: number | null = null;
  /** What the passes over staging have seen: the commit, and for how long its observations were healthy in a row. */
  let seen: Seen = { nth: -1, healthyMs: 0, at: null };
  const passed = new Set<number>();
  const onRequest =
    (isProduction: boolean) =>
    async (request: RolloutRequest): Promise<void> => {
      killIn -= 1;
      if (killIn <= 0) {
        daemon?.abort();
        throw new Error("killed");
      }
      const [replicas] = isProduction ? request.replicas : [];
      if (replicas === undefined) return;
      const nth = replicas - 1;
      if (writing !== nth) found.started += 1;
      writing = nth;
      const why = await forbidden(nth);
      if (why !== null) found.faults.push(`SEED=${seed}: production began commit ${nth}: ${why}`);
    };
  const [stagingProxy, productionProxy] = [
    await rolloutProxy(staging, onRequest(false)),
    await rolloutProxy(production, onRequest(true)),
  ];
  const target = (name: string, server: { readonly data: string }, url: string, more: object) => {
    return { name, server: url, tokenFile: join(server.data, "admin-token"), ...more };
  };
  const operator = await operatorOf({
    sources: [{ name: "platform", url: upstream.folder, ref: "main" }],
    targets: [
      target("staging", staging, stagingProxy.url, {}),
      target("production", production, productionProxy.url, {
        after: ["staging"],
        ...(soakMs > 0 ? { soak: `${soakMs / 1000}s` } : {}),
      }),
    ],
  });
  const cwd = await temporaryFolder();
  const shared = setRemote(upstream.folder, commits, () => newest, time.clock);
  const start = async () => {
    time.restart(random);
    daemon = await startDaemon(operator.config, cwd, time, shared);
    return daemon;
  };
  let current = await start();
  onTestFinished(async () => current.stop());

  /** Why production may not begin a commit now, as the control plane of staging and its state show it. */
  async function forbidden(nth: number): Promise<string | null> {
    if (!passed.has(nth)) return `it was healthy in staging for ${seen.nth === nth ? seen.healthyMs : 0} ms`;
    if (seen.nth !== nth) return null;
    if (mode !== "healthy") return `its rollouts are ${mode} in staging`;
    const live = replicasIn(staging);
    if (live.some((one) => one !== nth + 1)) return `staging has replicas ${live}`;
    const recorded = await recordedIn(current.targets.get("staging"));
    return NAMES.every((name) => recorded.has(`service/dev:web/${name}`)) ? null : "staging has no receipt of it";
  }

  function observeStaging(): void {
    const live = replicasIn(staging);
    const nth = (live[0] ?? 0) - 1;
    const isWhole = live.length === NAMES.length && live.every((one) => one === live[0]);
    if (!isWhole || mode !== "healthy") {
      seen = { nth, healthyMs: 0, at: null };
      return;
    }
    const gap = seen.nth === nth && seen.at !== null ? time.elapsed() - seen.at : 0;
    const before = seen.nth === nth ? seen.healthyMs : 0;
    seen = { nth, healthyMs: before + (gap > 2 * INTERVAL_MS ? 0 : gap), at: time.elapsed() };
    if (seen.healthyMs >= soakMs) passed.add(nth);
  }

  async function pass(name: "staging" | "production"): Promise<void> {
    found.passes += 1;
    writing = null;
    const isKilled = await current.pass(name).then(
      () => killIn <= 0,
      (error: unknown) => {
        // A change by hand may look like another writer; then a daemon ends, and is started again.
        const hasEnded = error instanceof HoldfastError && error.code === "locked";
        if (killIn > 0 && !hasEnded) throw error;
        return true;
      },
    );
    if (isKilled) await restart();
    else if (name === "staging") observeStaging();
  }

  // Time while no daemon ran counts for nothing.
  async function restart(): Promise<void> {
    found.kills += 1;
    killIn = Number.POSITIVE_INFINITY;
    await current.stop();
    seen = { ...seen, at: null };
    time.advance(drawn(HOUR_MS));
    current = await start();
  }

  const setMode = (next: RolloutMode): void => {
    mode = next;
    stagingProxy.set(next);
  };
  const drawnName = (): string => NAMES[drawn(NAMES.length)] ?? NAMES[0];
  /** What makes staging another than its last pass has found it. */
  const disturbances: readonly (() => Promise<void> | void)[] = [
    () => setMode((["healthy", "failed", "stuck"] as const)[drawn(3)] ?? "healthy"),
    () => setReplicas(staging, drawnName(), 1 + drawn(newest + 2)),
    async () => {
      const connection = current.targets.get("staging")?.server.connection();
      await connection?.session.ledger.forget([`service/dev:web/${drawnName()}`]);
    },
  ];
  const actions: readonly (() => Promise<void> | void)[] = [
    ...disturbances,
    () => pass("staging"),
    () => pass("staging"),
    () => pass("production"),
    () => time.advance(drawn(SOAK_MS)),
    () => jumpClock(48 * HOUR_MS),
    () => {
      killIn = 1 + drawn(40);
      return pass(random() < 0.7 ? "staging" : "production");
    },
    () => restart(),
  ];
  function jumpClock(most: number): void {
    found.clockJumps += 1;
    time.setSystemClock((random() - 0.5) * most);
  }
  const act = async (among: typeof actions): Promise<void> => {
    await among[drawn(among.length)]?.();
    killIn = Number.POSITIVE_INFINITY;
  };
  const disturbPassed = async (): Promise<void> => {
    setMode("healthy");
    for (let round = 0; round < MOST_ROUNDS && !passed.has(newest); round += 1) {
      await pass("staging");
      time.advance(INTERVAL_MS);
    }
    await act(disturbances);
    await pass("production");
  };

  for (let one = 0; one < cases; one += 1) {
    newest += 1;
    for (let step = 0; step < STEPS; step += 1) {
      await act(actions);
      time.advance(drawn(INTERVAL_MS));
    }
    if (random() < 0.7) await disturbPassed();
    setMode("healthy");
    for (let round = 0; replicasIn(production).some((replicas) => replicas !== newest + 1); round += 1) {
      if (round === MOST_ROUNDS) {
        found.faults.push(`SEED=${seed}: commit ${newest} never reached production: ${current.failures.at(-1)}`);
        return { ...found, commits: one };
      }
      await pass("staging");
      await pass("production");
      time.advance(INTERVAL_MS);
      // A jump over hours would be no observed time in any case.
      if (random() < 0.5) jumpClock(2 * INTERVAL_MS);
    }
  }
  return { ...found, commits: cases };
}

type Seen = { readonly nth: number; readonly healthyMs: number; readonly at: number | null };

type SweepSize = {
  readonly cases: number;
  readonly seed: number;
  readonly isDocumentedOnly?: boolean;
  readonly soakMs?: number;
};

type Caller = Awaited<ReturnType<typeof serve>>;

/** The manifests of its applications, which a documented-only control plane does not list. */
function applicationsIn({ data }: Caller): readonly { readonly name: string; readonly replicas: number }[] {
  using database = new DatabaseSync(join(data, "control-plane.db"), { readOnly: true, timeout: 5000 });
  const newest = "SELECT d.json FROM applications a JOIN deployments d ON d.id = a.last_deployment_id";
  return database
    .prepare(newest)
    .all()
    .map(({ json }) => JSON.parse(String(json)).manifest);
}

function replicasIn(server: Caller): readonly number[] {
  const all = applicationsIn(server);
  return all.length === 0 ? [0] : all.map(({ replicas }) => replicas);
}

async function setReplicas(server: Caller, name: string, replicas: number): Promise<void> {
  const manifest = applicationsIn(server).find((one) => one.name === name);
  if (manifest !== undefined) await server.call("PUT", "/api/svc/v1/apps", { manifest: { ...manifest, replicas } });
}

async function recordedIn(target: CommandTarget | undefined): Promise<ReadonlySet<string>> {
  const heads = await target?.server.connection()?.session.heads();
  return new Set(heads?.keys());
}
