import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../clock/clock.ts";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import type { Identity } from "../core/manifest.ts";
import type {
  DryRunProof,
  FactStore,
  NumberedLease,
  RemovedEarlier,
  ServerFactChanges,
  ServerFacts,
} from "../core/server-facts.ts";

/** After this time a daemon requests a missing route again. */
const MISSING_MS = 60 * 60 * 1000;

/** What is known of a control plane, from its answers and from earlier runs: it saves what it learns. */
export class ServerCapabilities {
  readonly #proven: Set<string>;
  /** When each missing route was found missing. */
  readonly #missing = new Map<OperationName, number>();
  readonly #clock: Clock;
  readonly #registersByConfig: boolean;
  readonly #store: FactStore | null;
  dryRun: DryRunProof;
  /** Whether `postModelVersion` was seen to register a version; null while unknown. */
  seenRegistering: boolean | null;
  released: ReadonlySet<Identity>;
  /** Orphans that the history showed when the ledger had no records; null where it was not read. */
  removed: readonly RemovedEarlier[] | null;
  /** Whether the server has announced that it executes a write with an Idempotency-Key only once. */
  honoursKeys: boolean;
  /** Whether the last applied source had a configuration. */
  configured: boolean;
  lease: NumberedLease | null;
  /** The id of the subject of our token, or of an earlier write; null while unknown. */
  subject: string | null;
  /** The id of the subject of our last write: only what was agreed to tells a later run what is ours. */
  writtenBy: string | null;
  /** The facts as the ledger has them. */
  #stored: ServerFacts;
  /** Counts changes to the known routes. */
  #routeChanges = 0;
  /** The values at the last store to the ledger. */
  #storedState: readonly unknown[];

  /**
   * `registersByConfig`: the operator configured that `postModelVersion` registers versions (`modelVersionWrite: post`).
   * Without a store everything is forgotten at the end of the run.
   */
  constructor(
    facts: ServerFacts,
    {
      clock,
      registersByConfig = false,
      store = null,
    }: { readonly clock: Clock; readonly registersByConfig?: boolean; readonly store?: FactStore | null },
  ) {
    const routes = Object.entries(facts.routes);
    this.#proven = new Set(routes.flatMap(([name, support]) => (support === "yes" ? [name] : [])));
    this.#clock = clock;
    this.#registersByConfig = registersByConfig;
    this.#store = store;
    this.dryRun = facts.dryRun;
    this.seenRegistering = facts.registers;
    this.released = new Set(facts.released);
    this.removed = facts.removed ?? null;
    this.honoursKeys = facts.honoursKeys ?? false;
    this.configured = facts.configured ?? false;
    this.lease = facts.lease ?? null;
    this.subject = facts.subject ?? null;
    this.writtenBy = this.subject;
    // Earlier releases stored missing routes; the next changes drop them.
    this.#stored = { ...this.facts(), routes: facts.routes };
    this.#storedState = this.#state();
  }

  /** Takes over what the operator has agreed to with an approved command; stored with its first record. */
  agree({ configured, released, removed }: ServerFactChanges): void {
    this.configured = configured ?? this.configured;
    if (removed && !isDeepStrictEqual(removed, this.removed)) this.removed = removed;
    if (released) this.released = new Set(released);
    const changes = this.#takeChanges();
    if (changes !== null) this.#store?.storeFactsWithNext(changes);
  }

  /** Stores what was learned since the last time; returns at once where that is nothing. */
  async save(): Promise<void> {
    const changes = this.#takeChanges();
    if (changes !== null) await this.#store?.storeFacts(changes);
  }

  /** Whether no other holder has had the scope since our last lease: fencing tokens grow by one with each holder. */
  followsOurLease({ scope, number }: NumberedLease): boolean {
    if (number <= 1) return true;
    return this.lease?.scope === scope && number <= this.lease.number + 1;
  }

  /** Whether the server has a route: no answer is remembered for ever where it is missing. */
  support(name: OperationName): "unknown" | "yes" | "no" {
    const since = this.#missing.get(name);
    if (since !== undefined && this.#clock.monotonic() - since < MISSING_MS) return "no";
    return this.#proven.has(name) ? "yes" : "unknown";
  }

  /** Notes that a route has answered, or is missing. */
  learn(name: OperationName, support: "yes" | "no"): void {
    // A missing documented operation means a wrong address. It is not a property of the server.
    if (isDocumented(operation(name)) || this.support(name) === support) return;
    this.#routeChanges += 1;
    if (support === "yes") {
      this.#missing.delete(name);
      this.#proven.add(name);
    } else {
      this.#missing.set(name, this.#clock.monotonic());
      this.#proven.delete(name);
    }
  }

  /** False only when the route is known to be missing. */
  has(name: OperationName): boolean {
    return this.support(name) !== "no";
  }

  /** Whether the route is known to exist or to be missing. */
  knows(name: OperationName): boolean {
    return isDocumented(operation(name)) || this.support(name) !== "unknown";
  }

  /** The missing ones of these operations. */
  missing(names: readonly OperationName[]): readonly OperationName[] {
    return names.filter((name) => !this.has(name));
  }

  /** Whether `postModelVersion` registers versions on this server; null while unknown. */
  get registers(): boolean | null {
    return this.#registersByConfig || this.seenRegistering;
  }

  // The facts changed since the last call; null if none.
  #takeChanges(): ServerFactChanges | null {
    const state = this.#state();
    if (state.every((value, at) => value === this.#storedState[at])) return null;
    const [before, facts] = [this.#stored, this.facts()];
    this.#storedState = state;
    this.#stored = facts;
    const { routes, ...others } = facts;
    const { routes: oldRoutes, ...oldOthers } = before;
    return { ...changed(oldOthers, others), routes: changed(oldRoutes, routes) };
  }

  // Called around every write, so it must be cheap.
  #state(): readonly unknown[] {
    const { dryRun, seenRegistering, honoursKeys, configured, released, removed, lease, writtenBy } = this;
    return [dryRun, seenRegistering, honoursKeys, configured, released, removed, lease, writtenBy, this.#routeChanges];
  }

  /** The facts to store for the next run. */
  facts(): ServerFacts {
    const { dryRun, seenRegistering: registers, honoursKeys, configured, removed, lease, writtenBy: subject } = this;
    const routes = Object.fromEntries([...this.#proven].map((name) => [name, "yes"] as const));
    const agreed = { released: [...this.released], removed, configured };
    return { routes, dryRun, registers, ...agreed, honoursKeys, lease, subject };
  }
}

function changed<Value>(
  before: { readonly [name: string]: Value },
  now: { readonly [name: string]: Value },
): { readonly [name: string]: Value | null } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
  return Object.fromEntries(
    names.filter((name) => !isDeepStrictEqual(before[name], now[name])).map((name) => [name, now[name] ?? null]),
  );
}
