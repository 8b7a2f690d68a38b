import { holdsIn } from "../../src/commands/targets/target-state.ts";
import { Secret } from "../../src/contract/secret.ts";
import { refusedRisks } from "../../src/core/guards/step-guards.ts";
import { createDaemon, type Daemon } from "../../src/daemon/daemon.ts";
import { keptMemories } from "../../src/daemon/kept-memories.ts";
import type { PassObserver } from "../../src/daemon/pass-observer.ts";
import { createPassQueue } from "../../src/daemon/pass-queue.ts";
import { openSession } from "../../src/engine/session.ts";
import type { LockState, Rules, Target, TargetConnection, TargetServer } from "../../src/engine/target.ts";
import type { Sink } from "../../src/engine/token-sink.ts";
import type { StateAccess, StateLock, TargetState } from "../../src/state/state.ts";
import { memoryState } from "../support/memory-state.ts";
import type { Network } from "./network.ts";
import type { Process } from "./process.ts";
import { followed, NO_CONFIG, type Repository, ROOT } from "./repository.ts";

/** What outlives a daemon: its state, its copy of the remote, and its sink. */
export type DaemonDisk = {
  readonly state: StateAccess;
  readonly kept: { commit: string | null };
  readonly tokens: Map<string, string>;
  /** How many of the next deliveries of a token fail. */
  readonly sink: { failures: number };
  lock: StateLock | null;
};

/** An empty disk. */
export function emptyDisk(): DaemonDisk {
  return { state: memoryState(), kept: { commit: null }, tokens: new Map(), sink: { failures: 0 }, lock: null };
}

/** How a daemon of the simulation works. */
export type DaemonSettings = {
  readonly sync: "heal" | "report";
  readonly token: () => string;
  /** Whether it leaves alone what somebody else manages, as it does where nothing else is said. */
  readonly guardsAdoption: boolean;
  readonly repository: Repository;
  readonly network: Network;
  readonly observer: PassObserver;
  /** Called with each token that is delivered, and once the sink has it. */
  readonly onToken: (identity: string, token: string) => void;
  readonly onDelivered: (identity: string) => void;
};

/** The time limit of a request, in milliseconds. */
export const REQUEST_TIMEOUT_MS = 3000;

/** The interval of passes, in milliseconds. */
const INTERVAL_MS = 6000;

/** A daemon that runs. */
export type SimulatedDaemon = {
  readonly process: Process;
  readonly daemon: Daemon;
  /** Asks it to stop, as a signal does. */
  readonly stop: () => void;
  /** Resolves when it has ended by itself, with the error if there was one. */
  readonly ended: Promise<unknown>;
};

const rules: Rules = {
  selection: { only: [], kinds: [], exclude: [], paths: [] },
  ref: null,
  load: { defaults: { workspace_fqn: null }, places: {} },
  strict: false,
  partial: true,
  ignore: [],
  guards: {},
  allowShrink: false,
  refusedRisks: refusedRisks({}),
  allowedRisks: ["adopts", "privilege-growth"],
  allowedPolicies: [],
  approvals: null,
  updateShare: 1,
  dryRunsCreates: true,
  history: 0,
  writers: [],
  leaseScope: null,
  maxLeaseMs: null,
  concurrency: 4,
  requestTimeoutMs: REQUEST_TIMEOUT_MS,
  rolloutTimeoutMs: 60_000,
  wait: true,
  failFast: false,
  timeout: null,
};

/** Starts a daemon on its disk. */
export function startDaemon(disk: DaemonDisk, process: Process, settings: DaemonSettings): SimulatedDaemon {
  const { repository, sync, observer } = settings;
  const { clock, random } = process;
  const stopping = new AbortController();
  const source = followed(repository, process, disk.kept);
  const state = stateOf(disk, process);
  const server = serverOf(state, { disk, process, settings, stopping: stopping.signal });
  const target: Target = {
    source: {
      root: ROOT,
      cwd: ROOT,
      base: null,
      ...source,
      config: NO_CONFIG,
      ignore: [],
      warnings: () => [],
      accept: () => {},
    },
    sourceCache: null,
    server,
    state,
    holds: holdsIn(state, { now: clock.now, proposes: false }),
    rules: () => (settings.guardsAdoption ? { ...rules, allowedRisks: ["privilege-growth"] } : rules),
  };
  const run = { clock, random, stopping: stopping.signal, signal: new AbortController().signal };
  const daemon = createDaemon(
    {
      targets: [
        {
          name: "default",
          target,
          fault: null,
          source: "repository",
          between: async () => [],
          server: null,
          serverName: "http://simulation",
          sourceDigest: "source",
          settingsDigest: () => "settings",
          sync,
          intervalMs: INTERVAL_MS,
          driftIntervalMs: INTERVAL_MS,
        },
      ],
      database: null,
      serve: async () => null,
      queue: createPassQueue({ clock }),
      observers: { of: () => [observer], onWarning: () => {} },
    },
    run,
  );
  const ended = (async (): Promise<unknown> => {
    try {
      await daemon.run({
        replaced: new AbortController().signal,
        isReloaded: false,
        memories: keptMemories(1000),
        onTargetFailed: () => {},
      });
      return null;
    } catch (error) {
      return error;
    } finally {
      await daemon[Symbol.asyncDispose]();
      await disk.lock?.[Symbol.asyncDispose]();
      disk.lock = null;
    }
  })();
  return { process, daemon, ended, stop: () => stopping.abort(new Error("stopped")) };
}

/** What is durable passes through the process, which may be killed before or after. */
function stateOf({ state }: DaemonDisk, process: Process): TargetState {
  const durable = <Store extends object>(store: Store, writes: readonly (keyof Store)[]): Store => {
    const wrapped = { ...store };
    for (const name of writes) {
      const method = store[name] as unknown as (...args: unknown[]) => Promise<unknown>;
      wrapped[name] = ((...args: unknown[]) => process.durably(() => method(...args))) as unknown as Store[keyof Store];
    }
    return wrapped;
  };
  return {
    ...state,
    open: async (options) => {
      const opened = await state.open(options);
      return {
        ...opened,
        ledger: async (server) =>
          durable(await opened.ledger(server), [
            ...(["record", "forget", "begin", "keepReply", "close", "storeFacts", "storeWaitingFacts"] as const),
          ]),
      };
    },
    target: async () =>
      durable(await state.target(), [
        ...(["decide", "keep", "keepRecords", "takeAction", "renewAction", "endAction", "advance"] as const),
      ]),
    folder: `/simulation/${process.name}`,
    readKey: () => null,
    build: () => "simulation",
    onForgotten: () => {},
    caches: true,
  };
}

function serverOf(
  state: TargetState,
  {
    disk,
    process,
    settings,
    stopping,
  }: {
    readonly disk: DaemonDisk;
    readonly process: Process;
    readonly settings: DaemonSettings;
    readonly stopping: AbortSignal;
  },
): TargetServer {
  let connecting: Promise<TargetConnection> | null = null;
  let connection: TargetConnection | null = null;
  let actor: string | null = null;
  let revision: Parameters<TargetServer["writeFor"]>[0] | null = null;
  const open = async (lockState: LockState = (opened) => opened.lock()): Promise<TargetConnection> => {
    const opened = await state.open({ keyText: null });
    const lock = await lockState(opened);
    disk.lock = lock;
    const session = await openSession({
      server: { name: "http://simulation", url: "http://simulation" },
      token: () => new Secret(settings.token()),
      actor: () => actor,
      revision: () => revision,
      concurrency: rules.concurrency,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectTimeout: 2000,
      env: {},
      userAgent: "holdfast",
      stopping,
      signal: new AbortController().signal,
      clock: process.clock,
      random: process.random,
      openDispatchers: settings.network.dispatchersOf(process),
      state: opened,
      folder: state.folder,
      sink: { type: { name: "memory", open: () => sinkOf(disk, process, settings) }, settings: {} },
      secrets: { sources: [], identities: () => null, program: null, sendsReferences: false },
      cwd: ROOT,
      registersModels: false,
      build: state.build(),
    });
    return {
      session,
      url: "http://simulation",
      state: opened,
      lock,
      credential: { from: "token-file", place: "token" },
    };
  };
  return {
    connection: () => connection,
    actFor: (person) => {
      actor = person;
    },
    writeFor: (written) => {
      revision = written;
    },
    connect: async (_, lock) => {
      connecting ??= open(lock).catch((error: unknown) => {
        connecting = null;
        throw error;
      });
      connection = await connecting;
      return connection;
    },
    disconnect: async () => {},
  };
}

function sinkOf({ tokens, sink }: DaemonDisk, process: Process, { onToken, onDelivered }: DaemonSettings): Sink {
  return {
    check: async () => {},
    deliver: async (identity, token) => {
      onToken(identity, token.open());
      if (sink.failures > 0) {
        sink.failures -= 1;
        throw new Error("the sink is full");
      }
      return process.durably(() => {
        if (!tokens.has(identity)) tokens.set(identity, token.open());
        onDelivered(identity);
        return `memory:${identity}`;
      });
    },
  };
}
