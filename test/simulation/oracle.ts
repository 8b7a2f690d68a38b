import type { EndedPass } from "../../src/daemon/ended-pass.ts";
import { CONSTANT, type Declared, type Mark, markIn } from "./contents.ts";
import type { ControlPlaneData } from "./control-plane.ts";
import type { SentRequest } from "./network.ts";
import { REMOTE_AWAY } from "./repository.ts";
import { START } from "./scheduler.ts";

/** A commit as the oracle knows it. */
export type Pushed = { readonly commit: string; readonly declared: Declared; readonly isRefused: boolean };

/** What must never happen, and has happened. */
export type Violation = { readonly invariant: Invariant; readonly text: string };

const invariants = [
  "nothing is doubled",
  "nothing older is written",
  "nothing is written that no commit declares",
  "what is held is not written",
  "what cannot be seen is not written",
  "what somebody else manages is not written",
  "what only reports writes nothing",
  "one process writes at a time",
  "nothing is wrongly reported",
  "no secret leaves the sink",
  "no one-time token is lost without a word",
  "a one-time token that a process had is delivered",
  "what was applied last is kept",
  "a quiet world converges",
  "nothing fails with an error of ours",
] as const;

/** What must hold at each step. */
export type Invariant = (typeof invariants)[number];

type Lease = { readonly holder: string; readonly number: number; readonly expiresAt: number };

type Written = { readonly at: number; readonly mark: Mark };

const LEASES = new Set(["E10"]);

/** The resources with a one-time token. */
const ACCOUNTS = ["virtual-account/ci"];

/** The errors that say that nobody has a one-time token. */
const TOKEN_ERRORS = new Set(["token-lost", "token-unrecovered"]);

/** What is special about resources of a world. */
export type Special = {
  /** What exists from the beginning. */
  readonly seeded: ReadonlySet<string>;
  /** What is declared, and the token of the daemons does not see. */
  readonly unseen: ReadonlySet<string>;
  /** What is declared, and somebody else manages. */
  readonly foreign: ReadonlySet<string>;
  /** The number of daemons that write. */
  readonly writers: number;
};

/**
 * Knows what was declared and what people did, and reads what the control plane has from its database: it shares nothing
 * with the engine.
 */
export class Oracle {
  readonly #queries: ReturnType<typeof queriesOf>;
  readonly #pushed: Pushed[] = [];
  readonly #written = new Map<string, Written[]>();
  readonly #lastPush = new Map<string, number>();
  readonly #held = new Map<string, "unclear" | "decided" | { readonly inForceAt: number }>();
  #hasApplied = false;
  readonly #told = new Map<string, number>();
  readonly #made = new Map<string, number>();
  readonly #secrets = new Set<string>();
  readonly #delivered = new Set<string>();
  readonly #toldLost = new Set<string>();
  readonly #received = new Set<string>();
  readonly #existsSince = new Map<string, number>();
  readonly #special: Special;
  #rows = { audit: 0, deployments: 0, versions: 0 };
  #changes = 0;
  readonly #leases = new Map<string, Lease>();
  #found: Violation | null = null;

  constructor({ database }: ControlPlaneData, special: Special) {
    this.#queries = queriesOf(database.connection);
    this.#special = special;
    for (const identity of special.seeded) this.#existsSince.set(identity, 0);
  }

  /** The first violation; null while there is none. */
  get violation(): Violation | null {
    return this.#found;
  }

  /** The number of resources and versions that were written. */
  get writes(): number {
    return this.#rows.audit;
  }

  fail(invariant: Invariant, text: string): void {
    this.#found ??= { invariant, text };
  }

  pushed(push: Pushed): void {
    this.#pushed.push(push);
  }

  /** The commits so far, the oldest first. */
  get pushes(): readonly Pushed[] {
    return this.#pushed;
  }

  /** A person asks to hold or to release a resource: until that is done, it may be written or not. */
  asked(identity: string): void {
    this.#held.set(identity, "unclear");
  }

  /** A person has held a resource: from the next pass on it is not written. */
  hold(identity: string): void {
    this.#held.set(identity, "decided");
  }

  /** A pass begins; what was sent before it arrives until then. */
  began(arrivedAt: number): void {
    for (const [identity, state] of this.#held)
      if (state === "decided") this.#held.set(identity, { inForceAt: arrivedAt });
  }

  release(identity: string): void {
    this.#held.delete(identity);
  }

  /** The resources that are held, or may be. */
  get held(): ReadonlySet<string> {
    return new Set(this.#held.keys());
  }

  /** Whether live of a resource may stay different from what is declared. */
  isLeftAlone(identity: string): boolean {
    return this.#held.has(identity) || this.#special.unseen.has(identity) || this.#special.foreign.has(identity);
  }

  /** A token that only the sink may have, and which it is to have. */
  secret(identity: string, text: string): void {
    this.#secrets.add(text);
    this.#received.add(identity);
  }

  /** The sink has the one-time token of a resource. */
  delivered(identity: string): void {
    this.#delivered.add(identity);
  }

  /** Looks for one-time tokens that the sink does not have, and of which no report has said so. */
  tokens(): void {
    const lost = ACCOUNTS.filter(
      (one) => (this.#made.get(one) ?? 0) > 0 && !this.#delivered.has(one) && !this.#toldLost.has(one),
    );
    for (const identity of lost)
      this.fail("no one-time token is lost without a word", `nobody has the token of ${identity}`);
  }

  /** A request that is sent. */
  sent(request: SentRequest): void {
    if (request.from !== "reporter" || request.method === "GET") return;
    if (request.body?.includes('"dryRun":true') === true) return;
    this.fail("what only reports writes nothing", `${request.from} sent ${request.method} ${request.path}`);
  }

  /** Looks at what was committed to the control plane since the last call. */
  committed(now: number): void {
    const { changes, deployments, versions, audit, team, leases } = this.#queries;
    const changed = Number(changes.get()?.count);
    if (changed === this.#changes) return;
    this.#changes = changed;
    for (const row of deployments.all(this.#rows.deployments)) {
      this.#rows.deployments = Number(row.rowid);
      this.#write(
        `service/${/"fqn":"(dev:web:[a-z]+):/.exec(String(row.json))?.[1]?.replace(/:([a-z]+)$/, "/$1")}`,
        row,
        now,
      );
    }
    for (const row of versions.all(this.#rows.versions)) {
      this.#rows.versions = Number(row.rowid);
      this.#write(`chat_prompt/registry/${String(row.name)}`, row, now);
    }
    const leaseEntries = new Map<string, number>();
    for (const row of audit.all(this.#rows.audit)) {
      this.#rows.audit = Number(row.rowid);
      const resource = String(row.resource);
      if (LEASES.has(String(row.operation))) {
        leaseEntries.set(resource, (leaseEntries.get(resource) ?? 0) + 1);
        continue;
      }
      if (resource === "team/ml") {
        const found = team.get();
        if (found !== undefined) this.#write(resource, found, now);
      }
      if (!CONSTANT.some((one) => one === resource)) continue;
      const made = (this.#made.get(resource) ?? 0) + 1;
      this.#made.set(resource, made);
      this.#exists(resource, now);
      if (made > 1) this.fail("nothing is doubled", `${resource} was made ${made} times`);
      if (this.#special.unseen.has(resource) && !this.#special.seeded.has(resource))
        this.fail("what cannot be seen is not written", `${resource} was made`);
    }
    for (const row of leases.all()) {
      const scope = String(row.scope);
      const lease = { holder: String(row.holder), number: Number(row.number), expiresAt: Number(row.expires_at) };
      // One that was released in the same commit has two entries there.
      this.#leased(scope, lease, { now, isReleased: (leaseEntries.get(`lease/${scope}`) ?? 0) > 1 });
    }
  }

  #leased(scope: string, lease: Lease, { now, isReleased }: { now: number; isReleased: boolean }): void {
    const before = this.#leases.get(scope);
    this.#leases.set(scope, lease);
    if (before === undefined || lease.holder === before.holder || lease.holder === "") return;
    const isHeld = before.holder !== "" && before.expiresAt > START + Math.floor(now);
    if (isHeld && !isReleased)
      this.fail("one process writes at a time", `${lease.holder} took the lease of ${before.holder} before its end`);
    if (lease.number <= before.number)
      this.fail(
        "one process writes at a time",
        `${lease.holder} got the number ${lease.number} after ${before.number}`,
      );
  }

  #exists(identity: string, now: number): void {
    if (!this.#existsSince.has(identity)) this.#existsSince.set(identity, now);
  }

  #write(identity: string, { json }: { readonly [column: string]: unknown }, now: number): void {
    const mark = markIn(String(json));
    const before = this.#written.get(identity) ?? [];
    this.#written.set(identity, before);
    this.#exists(identity, now);
    if (mark === null) {
      this.fail("nothing is written that no commit declares", `${identity} has no mark`);
      return;
    }
    const last = before.at(-1)?.mark;
    before.push({ at: now, mark });
    if (mark.startsWith("p")) return;
    if (this.#special.unseen.has(identity))
      this.fail("what cannot be seen is not written", `${identity} was written as ${mark}`);
    if (this.#special.foreign.has(identity))
      this.fail("what somebody else manages is not written", `${identity} was written as ${mark}`);
    if (last === mark) this.fail("nothing is doubled", `${identity} was written twice as ${mark}`);
    const since = this.#lastPush.get(identity) ?? 0;
    const nth = this.#pushed.findIndex(
      ({ declared, isRefused }, at) => at >= since && !isRefused && declared.get(identity) === mark,
    );
    if (nth === -1) {
      const isOlder = this.#pushed.some(({ declared, isRefused }) => !isRefused && declared.get(identity) === mark);
      this.fail(
        isOlder ? "nothing older is written" : "nothing is written that no commit declares",
        `${identity} was written as ${mark}${isOlder ? `, after commit ${since + 1}` : ""}`,
      );
      return;
    }
    this.#lastPush.set(identity, nth);
    const held = this.#held.get(identity);
    if (typeof held === "object" && now > held.inForceAt)
      this.fail("what is held is not written", `${identity} was written as ${mark}`);
  }

  /** The mark that live has; null if it has none. */
  live(identity: string): Mark | null {
    return this.#written.get(identity)?.at(-1)?.mark ?? null;
  }

  /** A pass has ended: what it says must be true. */
  ended(name: string, { seen, times }: EndedPass): void {
    const { applied } = seen;
    if (applied === null) return;
    const push = this.#pushed.find(({ commit }) => commit === applied.report.revision);
    if (push === undefined) {
      this.fail("nothing is wrongly reported", `${name} names an unknown commit`);
      return;
    }
    const since = times.startedAt - START;
    for (const { identity, action } of applied.plan.steps)
      if (action === "create" && (this.#existsSince.get(identity) ?? Infinity) < since)
        this.fail("nothing is wrongly reported", `${name} says that ${identity} is absent`);
    const { outcomes } = applied.report;
    for (const { identity, result, error } of outcomes) {
      if (error !== null && TOKEN_ERRORS.has(error.code)) {
        this.#toldLost.add(identity);
        if (this.#received.has(identity) && this.#special.writers === 1)
          this.fail(
            "a one-time token that a process had is delivered",
            `${name} says that nobody has that of ${identity}`,
          );
      }
      if (result === "created" || result === "updated") this.#toldWritten(name, identity);
      // The outcome of an interrupted write, which may be of an earlier commit, is told beside that of the step.
      if (outcomes.filter((one) => one.identity === identity).length > 1) continue;
      const mark = push.declared.get(identity);
      if (mark === undefined || mark === null) continue;
      const written = this.#written.get(identity) ?? [];
      if (result === "created" || result === "updated") {
        if (!written.some((one) => one.mark === mark))
          this.fail("nothing is wrongly reported", `${name} says that ${identity} was ${result} as ${mark}`);
      }
      // Of two daemons, the other one may have written it meanwhile.
      const isUnsent = error?.message.startsWith("nothing was sent") && this.#special.writers === 1;
      if (isUnsent && written.some((one) => one.mark === mark && one.at >= since))
        this.fail("nothing is wrongly reported", `${name} says that ${identity} was not sent as ${mark}`);
      if (result !== "unchanged") continue;
      // It was so at some moment of the pass.
      const wasSo = written.some((one, at) => one.mark === mark && (written[at + 1]?.at ?? Infinity) >= since);
      if (!wasSo) this.fail("nothing is wrongly reported", `${name} says that ${identity} is as declared, ${mark}`);
    }
  }

  // Each write is told once, by the pass that made it or by the one that found it. Of two daemons that write the same with
  // one token, either may take that for its own.
  #toldWritten(name: string, identity: string): void {
    if (this.#special.writers > 1) return;
    // A team has no versions: nothing shows a write of what it already has, which is told too.
    if (identity.startsWith("team/")) return;
    const writes = this.#written.get(identity)?.filter(({ mark }) => !mark.startsWith("p")).length;
    const told = (this.#told.get(identity) ?? 0) + 1;
    this.#told.set(identity, told);
    if (writes !== undefined && told > writes)
      this.fail(
        "nothing is wrongly reported",
        `${name} tells the write ${told} of ${identity}, and there were ${writes}`,
      );
  }

  /** A pass of a daemon that writes has ended: without the remote, it keeps what was applied last. */
  kept(name: string, { conclusion: { result, reasons } }: EndedPass): void {
    if (result === "applied") this.#hasApplied = true;
    // Of two daemons, one that may be behind the other writes nothing then.
    if (result !== "failed" || !this.#hasApplied || this.#special.writers > 1) return;
    const isAway = reasons.some(({ message }) => message.includes(REMOTE_AWAY));
    if (isAway) this.fail("what was applied last is kept", `${name} does nothing while the remote is away`);
  }

  /** The state of a daemon is lost. */
  lost(): void {
    this.#hasApplied = false;
    this.#received.clear();
  }

  /** What is told outside of the sink. */
  told(text: string): void {
    for (const secret of this.#secrets)
      if (text.includes(secret)) this.fail("no secret leaves the sink", "a token was told");
  }

  /** What live has that the newest commit does not declare so, without what is held. */
  differences(): readonly string[] {
    const newest = this.#pushed.at(-1);
    if (newest === undefined) return [];
    const differing = [...newest.declared]
      .filter(([identity, mark]) => mark !== null && !this.isLeftAlone(identity) && this.live(identity) !== mark)
      .map(([identity, mark]) => `${identity} is ${this.live(identity) ?? "absent"} and not ${mark}`);
    const missing = CONSTANT.filter(
      (one) => !this.#special.seeded.has(one) && !this.isLeftAlone(one) && (this.#made.get(one) ?? 0) === 0,
    );
    return [...differing, ...missing.map((one) => `${one} is absent`)];
  }
}

/** What is read of the database of the control plane, after each step that has changed it. */
function queriesOf(connection: ControlPlaneData["database"]["connection"]) {
  return {
    changes: connection.prepare("SELECT total_changes() AS count"),
    deployments: connection.prepare("SELECT rowid, json FROM deployments WHERE rowid > ? ORDER BY rowid"),
    versions: connection.prepare("SELECT rowid, json, name FROM artifact_versions WHERE rowid > ? ORDER BY rowid"),
    audit: connection.prepare(
      "SELECT rowid, resource, operation FROM audit WHERE rowid > ? AND outcome = 'done' ORDER BY rowid",
    ),
    leases: connection.prepare("SELECT scope, holder, number, expires_at FROM leases"),
    team: connection.prepare("SELECT json FROM teams WHERE name = 'ml'"),
  };
}
