import { isDeepStrictEqual } from "node:util";
import type { CapabilityMemory } from "../client/learned-capabilities.ts";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import type { ServerFacts } from "../core/decide/choose-write-operation.ts";
import type { Identity } from "../core/manifest.ts";
import type { DryRunProof, LearnedFacts, NumberedLease, RememberedFacts } from "../state/server-facts.ts";

/** After this time a daemon asks again for a missing route. */
const MISSING_MS = 60 * 60 * 1000;

/** What is known of a control plane in this run: routes from the client, the rest from the engine. */
export class KnownServer implements ServerFacts, CapabilityMemory {
  readonly #proven: Set<string>;
  /** When each missing route was found to be so. */
  readonly #missing = new Map<OperationName, number>();
  readonly #clock: () => number;
  readonly #isTold: boolean;
  dryRun: DryRunProof;
  /** Whether `postModelVersion` was seen to register a version; null while unknown. */
  seenRegistering: boolean | null;
  released: ReadonlySet<Identity>;
  honoursKeys: boolean;
  /** Whether the source that was applied last had a configuration. */
  configured: boolean;
  lease: NumberedLease | null;
  /** The id of the subject of our writes; null while unknown. */
  subject: string | null;
  /** What the control plane has told of the caller in this run. */
  caller?: string;
  /** What the ledger has. */
  #remembered: RememberedFacts;
  /** Counts changes of what is known about routes. */
  #routeNews = 0;
  /** The values at the last time they were stored in the ledger. */
  #told: readonly unknown[];

  /**
   * `told`: the operator configured that `postModelVersion` registers versions (`modelVersionWrite: post`); `clock`: milliseconds,
   * monotonic.
   */
  constructor(facts: RememberedFacts, { told = false, clock = () => performance.now() } = {}) {
    const routes = Object.entries(facts.routes);
    this.#proven = new Set(routes.flatMap(([name, support]) => (support === "yes" ? [name] : [])));
    this.#clock = clock;
    this.#isTold = told;
    this.dryRun = facts.dryRun;
    this.seenRegistering = facts.registers;
    this.released = new Set(facts.released);
    this.honoursKeys = facts.honoursKeys ?? false;
    this.configured = facts.configured ?? false;
    this.lease = facts.lease ?? null;
    this.subject = facts.subject ?? null;
    // What an earlier release learned to be missing is forgotten with the next news.
    this.#remembered = { ...this.facts(), routes: facts.routes };
    this.#told = this.#state();
  }

  /** Whether no other holder had the scope since our last lease: fencing tokens grow by one with each holder. */
  followsOurLease({ scope, number }: NumberedLease): boolean {
    if (number <= 1) return true;
    return this.lease?.scope === scope && number <= this.lease.number + 1;
  }

  get(name: OperationName): "yes" | "no" | undefined {
    if (!this.has(name)) return "no";
    return this.#proven.has(name) ? "yes" : undefined;
  }

  set(name: OperationName, support: "yes" | "no"): void {
    this.#routeNews += 1;
    if (support === "yes") {
      this.#missing.delete(name);
      this.#proven.add(name);
    } else {
      this.#missing.set(name, this.#clock());
      this.#proven.delete(name);
    }
  }

  has(name: OperationName): boolean {
    const since = this.#missing.get(name);
    return since === undefined || this.#clock() - since >= MISSING_MS;
  }

  /** Whether an answer has shown that the route is there, or missing. */
  knows(name: OperationName): boolean {
    return isDocumented(operation(name)) || this.get(name) !== undefined;
  }

  /** Those of these operations that are missing. */
  missing(names: readonly OperationName[]): readonly OperationName[] {
    return names.filter((name) => !this.has(name));
  }

  get registers(): boolean | null {
    return this.#isTold || this.seenRegistering;
  }

  /** What was learned since the last call; null where nothing was. */
  news(): LearnedFacts | null {
    const state = this.#state();
    if (state.every((value, at) => value === this.#told[at])) return null;
    const [before, facts] = [this.#remembered, this.facts()];
    this.#told = state;
    this.#remembered = facts;
    const { routes, ...others } = facts;
    const { routes: oldRoutes, ...oldOthers } = before;
    const learned = { ...changed(oldOthers, others), routes: changed(oldRoutes, routes) };
    return learned;
  }

  // Called around every write, so it must be cheap.
  #state(): readonly unknown[] {
    const { dryRun, seenRegistering, honoursKeys, configured, released, lease, subject } = this;
    return [dryRun, seenRegistering, honoursKeys, configured, released, lease, subject, this.#routeNews];
  }

  /** The facts to remember for the next run. */
  facts(): RememberedFacts {
    const { dryRun, seenRegistering: registers, honoursKeys, configured, lease, subject } = this;
    const routes = Object.fromEntries([...this.#proven].map((name) => [name, "yes"] as const));
    return { routes, dryRun, registers, released: [...this.released], honoursKeys, configured, lease, subject };
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
