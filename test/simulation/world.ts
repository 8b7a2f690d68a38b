import { FENCING_SCOPE, FENCING_TOKEN, IDEMPOTENCY_KEY } from "../../src/contract/headers.ts";
import type { EndedPass } from "../../src/daemon/ended-pass.ts";
import type { SeedDocument } from "../../src/server/options.ts";
import {
  type Declared,
  editOf,
  FOREIGN,
  filesOf,
  firstDeclared,
  LIMITED_PERMISSIONS,
  type Mark,
  UNSEEN,
} from "./contents.ts";
import { ADMIN_TOKEN, controlPlaneData, type SimulatedControlPlane, startControlPlane } from "./control-plane.ts";
import { type DaemonDisk, emptyDisk, REQUEST_TIMEOUT_MS, type SimulatedDaemon, startDaemon } from "./daemon.ts";
import { createNetwork, type Network, type SentRequest } from "./network.ts";
import { Oracle, type Violation } from "./oracle.ts";
import { createProcess, type Process } from "./process.ts";
import { createRepository, type Repository } from "./repository.ts";
import { drawsOf, Scheduler } from "./scheduler.ts";
import { type Happening, inWords, RESOURCES, type Script } from "./script.ts";

/** How a run of a script ended. */
export type Ended = {
  readonly violation: Violation | null;
  readonly steps: number;
  readonly trace: string;
  readonly counts: ReadonlyMap<string, number>;
};

/** How a script is run. */
export type RunOptions = {
  /** Ends the run after so many steps, without a judgement of the round. */
  readonly most?: number;
  /** Called with what happens, in words. */
  readonly tell?: (at: number, text: string) => void;
};

/** How long the world may take to converge after a round, in milliseconds. */
const CONVERGE_MS = 15 * 60_000;

/** How many passes a quiet world may need. */
const QUIET_PASSES = 2;

const FLUSH_MS = 8;

/** When what has ended by itself is started again, as a pod is, in milliseconds. */
const RESTART_MS = 2000;

// While a rollout goes on, a control plane refuses another write, which hides a write that is doubled.
const ROLLOUT_SECONDS = [0.05, 0.4, 3];

/** Runs a script from an empty world to the end, or to the first violation. */
export async function runScript(script: Script, options: RunOptions = {}): Promise<Ended> {
  const world = await World.create(script, options);
  return world.run();
}

type Slot = {
  readonly name: string;
  readonly sync: "heal" | "report";
  disk: DaemonDisk;
  running: SimulatedDaemon | null;
  /** How long after its end it starts again, in milliseconds. */
  restartMs: number;
  /** Whether it is not to start again for now. */
  isAway: boolean;
  /** Passes that began after the world has become quiet, and have ended. */
  quiet: EndedPass[];
};

class World {
  readonly #script: Script;
  readonly #options: RunOptions;
  readonly #scheduler: Scheduler;
  readonly #repository: Repository;
  readonly #network: Network;
  readonly #oracle: Oracle;
  readonly #data: Awaited<ReturnType<typeof controlPlaneData>>;
  readonly #slots: readonly Slot[];
  #server: SimulatedControlPlane | null = null;
  #startsServer = true;
  #serverRestartMs = RESTART_MS;
  #processes = 0;
  #marks = 0;
  #declared: Declared = firstDeclared();
  #accepted: Declared[] = [];
  #quietSince: number | null = null;
  #isStateLost = false;
  #wasStateLost = false;
  #isConverged = false;

  static async create(script: Script, options: RunOptions): Promise<World> {
    return new World(script, options, await controlPlaneData());
  }

  private constructor(script: Script, options: RunOptions, data: Awaited<ReturnType<typeof controlPlaneData>>) {
    this.#script = script;
    this.#options = options;
    this.#data = data;
    const { isLimited = false } = script;
    this.#scheduler = new Scheduler(drawsOf(script.seed, "order"));
    this.#repository = createRepository(filesOf(this.#declared));
    this.#oracle = new Oracle(data, {
      seeded: new Set(seedOf(script).map(({ place }) => place)),
      unseen: new Set(isLimited ? UNSEEN : []),
      foreign: new Set(isLimited ? [FOREIGN] : []),
      writers: script.daemons,
    });
    this.#network = createNetwork({
      scheduler: this.#scheduler,
      draw: drawsOf(script.seed, "network"),
      timeoutMs: REQUEST_TIMEOUT_MS,
      answer: (request) => {
        this.#oracle.sent(request);
        return this.#server?.handle(script.documentedOnly ? documented(request) : request) ?? null;
      },
    });
    const healing = Array.from({ length: script.daemons }, (_, nth) => slot(`daemon-${nth + 1}`, "heal"));
    this.#slots = script.reports ? [...healing, slot("reporter", "report")] : healing;
    this.#marks = this.#declared.size;
    this.#accept(this.#declared, this.#repository.tip());
  }

  async run(): Promise<Ended> {
    const { most = Number.POSITIVE_INFINITY } = this.#options;
    const isOver = (): boolean => this.#oracle.violation !== null || this.#scheduler.steps >= most;
    const onUnhandled = (error: unknown): void =>
      this.#oracle.fail("nothing fails with an error of ours", `unhandled: ${String(error)}`);
    process.on("unhandledRejection", onUnhandled);
    try {
      // The daemons need their token.
      if (this.#script.isLimited === true) await this.#startServer();
      for (const each of this.#slots) this.#start(each);
      for (const round of this.#script.rounds) {
        const begunAt = this.#scheduler.now;
        for (const event of round) {
          await this.#runUntil(begunAt + event.at, isOver);
          if (isOver()) break;
          await this.#happen(event);
        }
        if (!isOver()) await this.#rest(isOver);
        if (isOver()) break;
      }
    } finally {
      for (const { running } of this.#slots) running?.process.kill();
      this.#server?.process.kill();
      await this.#scheduler.settle();
      this.#data.database.connection.close();
      process.off("unhandledRejection", onUnhandled);
    }
    const { steps, trace, counts } = this.#scheduler;
    return { violation: this.#oracle.violation, steps, trace, counts };
  }

  async #runUntil(until: number, isOver: () => boolean): Promise<void> {
    const scheduler = this.#scheduler;
    while (!isOver()) {
      if (this.#startsServer) await this.#startServer();
      if (!(await scheduler.step(until))) return;
      this.#oracle.committed(scheduler.now);
    }
  }

  /** Runs until something has happened, for as long as the world may take to converge. */
  async #runWhileNot(hasHappened: () => boolean, isOver: () => boolean): Promise<void> {
    const deadline = this.#scheduler.now + CONVERGE_MS;
    while (!hasHappened() && !isOver() && this.#scheduler.now < deadline)
      await this.#runUntil(this.#scheduler.now + 1000, isOver);
  }

  #process(name: string, startsAtOnce = false, onKilled: () => void = () => {}): Process {
    this.#processes += 1;
    return createProcess(name, {
      scheduler: this.#scheduler,
      draw: drawsOf(this.#script.seed, `${name} ${this.#processes}`),
      flushMs: FLUSH_MS,
      startsAtOnce,
      onKilled,
    });
  }

  async #startServer(): Promise<void> {
    this.#startsServer = false;
    const process = this.#process("server", true, () => {
      this.#tell("server is killed");
      this.#server?.cut();
      this.#server = null;
      this.#later(this.#serverRestartMs, () => this.#restartServer());
    });
    const { documentedOnly, isLimited = false } = this.#script;
    this.#server = await startControlPlane(this.#data, {
      process,
      scheduler: this.#scheduler,
      documentedOnly,
      rolloutSeconds: ROLLOUT_SECONDS[this.#script.seed % ROLLOUT_SECONDS.length] ?? 0,
      seed: seedOf(this.#script),
      permissions: isLimited ? LIMITED_PERMISSIONS : null,
    });
    this.#tell("server is up");
  }

  #start(one: Slot): void {
    if (one.isAway || one.running?.process.isAlive() === true) return;
    const { name, sync } = one;
    const process = this.#process(name, false, () => {
      this.#tell(`${name} is killed`);
      this.#network.killed(name);
      void one.disk.lock?.[Symbol.asyncDispose]();
      one.disk.lock = null;
      this.#later(one.restartMs, () => this.#start(one));
    });
    let isQuiet = false;
    const running = startDaemon(one.disk, process, {
      sync,
      token: () => this.#data.token ?? ADMIN_TOKEN,
      guardsAdoption: this.#script.isLimited === true,
      repository: this.#repository,
      network: this.#network,
      onToken: (identity, token) => this.#oracle.secret(identity, token),
      onDelivered: (identity) => this.#oracle.delivered(identity),
      observer: {
        begin: () => {
          isQuiet = this.#quietSince !== null;
          if (sync === "heal") this.#oracle.began(this.#scheduler.now + REQUEST_TIMEOUT_MS);
        },
        emit: (event) => {
          if (event.what === "finished" || event.what === "applied") this.#oracle.told(JSON.stringify(event));
          if (event.what === "finished")
            this.#tell(
              `${name}: ${event.outcome.identity} ${event.outcome.result} ${event.outcome.error?.message ?? ""}`,
            );
        },
        failure: (error) => {
          this.#tell(`${name} fails: ${String(error)}`);
          if (isOurs(error))
            this.#oracle.fail("nothing fails with an error of ours", `${name}: ${(error as Error).stack ?? ""}`);
        },
        end: (pass) => {
          this.#tell(
            `${name}: a pass ends as ${pass.conclusion.result} ${pass.conclusion.reasons.map(({ message }) => message).join("; ")}`,
          );
          this.#oracle.ended(name, pass);
          if (sync === "heal") this.#oracle.kept(name, pass);
          if (isQuiet) one.quiet.push(pass);
        },
      },
    });
    one.running = running;
    this.#tell(`${name} starts`);
    void running.ended.then((error) => {
      if (!process.isAlive() || one.running !== running) return;
      this.#tell(`${name} ends: ${error === null ? "as asked" : String(error)}`);
      if (error !== null) one.restartMs = RESTART_MS;
      process.kill();
      if (isOurs(error))
        this.#oracle.fail("nothing fails with an error of ours", `${name}: ${(error as Error).stack ?? ""}`);
    });
  }

  #later(ms: number, run: () => void): void {
    this.#scheduler.after(ms, "start", run);
  }

  #tell(text: string): void {
    this.#options.tell?.(this.#scheduler.now, text);
  }

  #mark(kind: "c" | "p"): Mark {
    this.#marks += 1;
    return `${kind}${this.#marks}`;
  }

  #accept(declared: Declared, commit: string): void {
    this.#declared = declared;
    this.#accepted.push(declared);
    this.#oracle.pushed({ commit, declared, isRefused: false });
    this.#enqueue();
  }

  #push(declared: Declared): void {
    this.#accept(declared, this.#repository.push(filesOf(declared)));
  }

  // As a webhook does.
  #enqueue(): void {
    for (const { running } of this.#slots)
      if (running?.process.isAlive() === true) running.daemon.targets[0]?.fireForChanges("webhook");
  }

  async #happen(event: Happening): Promise<void> {
    this.#scheduler.counts.set(event.is, (this.#scheduler.counts.get(event.is) ?? 0) + 1);
    this.#tell(inWords(event));
    switch (event.is) {
      case "push":
        return this.#push(this.#changed(event.changes));
      case "toggle": {
        const next = new Map(this.#declared);
        if (!next.delete(event.resource)) next.set(event.resource, this.#mark("c"));
        return this.#push(next);
      }
      case "revert":
        return this.#push(this.#accepted.at(-1 - event.back) ?? this.#declared);
      case "break":
        return this.#push(new Map([...this.#declared, [event.resource, null]]));
      case "empty": {
        // Without its records the guard has nothing to compare with.
        if (this.#isStateLost || !this.#isConverged) return;
        const declared = new Map(event.changes.map((identity) => [identity, this.#mark("c")] as const));
        const commit = this.#repository.push(filesOf(declared, true));
        this.#oracle.pushed({ commit, declared, isRefused: true });
        return this.#enqueue();
      }
      case "edit":
        return this.#edit(event.resource);
      case "hold":
      case "release": {
        const view = this.#slots[0]?.running?.daemon.targets[0];
        if (this.#slots[0]?.running?.process.isAlive() !== true || view === undefined) return;
        const { resource } = event;
        this.#oracle.asked(resource);
        const command =
          event.is === "hold"
            ? ({ is: "hold", hold: { what: resource, reason: "test", until: "2040-01-01T00:00:00.000Z" } } as const)
            : ({ is: "release", what: resource } as const);
        void view.carryOut(command).then(
          () => {
            if (event.is === "hold") this.#oracle.hold(resource);
            else this.#oracle.release(resource);
          },
          () => {},
        );
        return;
      }
      case "fault":
        return this.#network.inject(event.on, event.fault, event);
      case "outage":
        this.#repository.isReachable = false;
        return this.#later(event.ms, () => {
          this.#repository.isReachable = true;
        });
      case "full":
        if (event.on === "sink") {
          const [first] = this.#slots;
          if (first !== undefined) first.disk.sink.failures = event.times;
          return;
        }
        return (event.on === "server" ? this.#server?.process : this.#named(event.on)?.running?.process)?.failWrites(
          event.times,
        );
      case "kill": {
        if (event.on === "server") {
          this.#serverRestartMs = event.ms;
          return this.#server?.process.killAt(event.nth);
        }
        const found = this.#named(event.on);
        if (found === undefined) return;
        found.restartMs = event.ms;
        return found.running?.process.killAt(event.nth, event.writes === true ? "write sent" : undefined);
      }
      case "stop": {
        const found = this.#named(event.on);
        if (found === undefined) return;
        found.restartMs = event.ms;
        return found.running?.stop();
      }
      case "lose": {
        const found = this.#named(event.on);
        // The guard that keeps what a commit emptied needs the records.
        if (found === undefined || this.#oracle.pushes.at(-1)?.isRefused === true) return;
        this.#isStateLost = true;
        this.#oracle.lost();
        this.#wasStateLost = true;
        found.restartMs = event.ms;
        found.running?.process.kill();
        for (const identity of this.#oracle.held) this.#oracle.release(identity);
        found.disk = emptyDisk();
        return;
      }
    }
  }

  #named(name: string): Slot | undefined {
    return this.#slots.find((one) => one.name === name);
  }

  #restartServer(): void {
    if (this.#server === null) this.#startsServer = true;
  }

  #changed(changes: readonly string[]): Declared {
    const next = new Map(this.#declared);
    for (const identity of changes) if (next.has(identity)) next.set(identity, this.#mark("c"));
    return next;
  }

  #edit(identity: string): void {
    const found = this.#data.database.connection.prepare("SELECT id FROM workspaces WHERE fqn = 'dev:web'").get();
    const edit = found === undefined ? null : editOf(identity, this.#mark("p"), String(found.id));
    if (edit === null || this.#oracle.live(identity) === null) return;
    const headers = {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(JSON.stringify(edit.body))),
    };
    const request = { from: "person", method: "PUT", path: edit.path, headers, body: JSON.stringify(edit.body) };
    this.#server?.handle(request).then(
      ({ status, body }) => {
        if (status >= 300) this.#tell(`the edit is refused: ${status} ${body}`);
      },
      () => {},
    );
  }

  /** Puts everything right, and waits until the world has converged. */
  async #rest(isOver: () => boolean): Promise<void> {
    this.#tell("everything is put right");
    this.#network.heal();
    this.#repository.isReachable = true;
    this.#restartServer();
    this.#server?.process.failWrites(0);
    this.#server?.process.killAt(Number.POSITIVE_INFINITY);
    const whole = new Map(this.#declared);
    for (const identity of RESOURCES) if ((whole.get(identity) ?? null) === null) whole.set(identity, this.#mark("c"));
    for (const one of this.#slots) {
      one.running?.process.failWrites(0);
      one.running?.process.killAt(Number.POSITIVE_INFINITY);
      this.#start(one);
      one.quiet = [];
    }
    this.#push(whole);
    // Requests that are on their way may still arrive.
    await this.#runUntil(this.#scheduler.now + REQUEST_TIMEOUT_MS * 3, isOver);
    for (const one of this.#slots) this.#start(one);
    this.#quietSince = this.#scheduler.now;
    const enough = (): boolean =>
      this.#slots.some(({ quiet, sync }) => sync === "heal" && quiet.filter(isApplied).length > QUIET_PASSES);
    await this.#runWhileNot(enough, isOver);
    if (isOver()) return;
    this.#quietSince = null;
    const differences = this.#oracle.differences();
    if (!enough()) this.#oracle.fail("a quiet world converges", "no three passes have applied it");
    else if (differences.length > 0) this.#oracle.fail("a quiet world converges", differences.join(", "));
    const last = this.#slots.flatMap(({ quiet, sync }) =>
      sync === "heal" ? quiet.filter(isApplied).slice(QUIET_PASSES) : [],
    );
    const written = last.flatMap(
      ({ seen: { applied } }) =>
        applied?.report.outcomes.filter(({ result }) => result !== "unchanged" && result !== "skipped") ?? [],
    );
    const unquiet = written.filter(({ identity }) => !this.#oracle.isLeftAlone(identity));
    if (unquiet.length > 0)
      this.#oracle.fail(
        "a quiet world converges",
        `its third pass: ${unquiet.map((one) => `${one.identity} ${one.result} ${one.error?.message ?? ""}`).join(", ")}`,
      );
    // What a daemon that stands by has in its journal is only looked at when it leads.
    if (this.#script.daemons === 1 && !this.#wasStateLost) this.#oracle.tokens();
    this.#isConverged = true;
    this.#isStateLost = false;
    if (this.#script.daemons === 2) await this.#takeOver(isOver);
    // Before its first write a daemon writes nothing where somebody else manages a part.
    if (this.#script.isLimited === true) this.#push(new Map([...this.#declared, [FOREIGN, this.#mark("c")]]));
  }

  /** Kills the daemon that writes: the one that stands by has to apply the next commit. */
  async #takeOver(isOver: () => boolean): Promise<void> {
    const healing = this.#slots.filter(({ sync }) => sync === "heal");
    const leading = healing.find(({ quiet }) => quiet.filter(isApplied).length > QUIET_PASSES);
    const standingBy = healing.find((one) => one !== leading);
    if (leading === undefined || standingBy === undefined) return;
    leading.isAway = true;
    leading.running?.process.kill();
    this.#push(this.#changed([RESOURCES[0]]));
    const commit = this.#oracle.pushes.at(-1)?.commit;
    standingBy.quiet = [];
    this.#quietSince = this.#scheduler.now;
    const hasTakenOver = (): boolean => standingBy.quiet.some(({ seen }) => seen.applied?.report.revision === commit);
    await this.#runWhileNot(hasTakenOver, isOver);
    if (!hasTakenOver() && !isOver())
      this.#oracle.fail("a quiet world converges", `${standingBy.name} does not take over`);
    this.#quietSince = null;
    leading.isAway = false;
    this.#start(leading);
  }
}

/** The headers by which a write is executed once or fenced. The documented interface does not have them, so its control plane ignores them. */
const UNDOCUMENTED: readonly string[] = [IDEMPOTENCY_KEY, FENCING_TOKEN, FENCING_SCOPE];

function documented(request: SentRequest): SentRequest {
  const known = Object.entries(request.headers).filter(([name]) => !UNDOCUMENTED.includes(name));
  return { ...request, headers: Object.fromEntries(known) };
}

function isApplied({ seen }: EndedPass): boolean {
  return seen.applied !== null;
}

function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
}

function slot(name: string, sync: Slot["sync"]): Slot {
  return { name, sync, disk: emptyDisk(), running: null, restartMs: RESTART_MS, isAway: false, quiet: [] };
}

/** What a control plane with only the documented operations must have before, or whose daemons may not create it. */
const FOUNDATIONS = [
  { place: "cluster/dev", manifest: { type: "cluster", name: "dev", cluster_type: "generic" } },
  { place: "workspace/dev:web", manifest: { type: "workspace", name: "web", cluster_fqn: "dev" } },
  ...["registry", "one", "two", "three", "four"].map((name) => ({
    place: `ml-repo/${name}`,
    manifest: { type: "ml-repo", name },
  })),
];

const OF_OTHERS = [
  { place: "team/ml", manifest: { type: "team", name: "ml", members: ["mark-p0-@example.com"] } },
  {
    place: FOREIGN,
    manifest: {
      type: "chat_prompt",
      name: "theirs",
      ml_repo: "registry",
      messages: [{ role: "system", content: "mark-p0-" }],
    },
  },
];

function seedOf({ documentedOnly, isLimited = false }: Script): readonly SeedDocument[] {
  if (isLimited) return [...FOUNDATIONS, ...OF_OTHERS];
  return documentedOnly ? FOUNDATIONS : [];
}
