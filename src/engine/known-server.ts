import { isDeepStrictEqual } from "node:util";
import type { CapabilityStore } from "../client/learned-capabilities.ts";
import type { Clock } from "../clock/clock.ts";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import type { ServerFacts } from "../core/decide/choose-write-operation.ts";
import type { Identity } from "../core/manifest.ts";
import type {
  DryRunProof,
  NumberedLease,
  RemovedEarlier,
  ServerFactChanges,
  StoredServerFacts,
} from "../state/server-facts.ts";

/** After this time a daemon requests a missing route again. */
const MISSING_MS = 60 * 60 * 1000;

/** The facts known about a control plane in this run: routes from the client, the rest from the engine. */
export class KnownServer implements ServerFacts, CapabilityStore {
  readonly #proven: Set<string>;
  /** When each missing route was found missing. */
  readonly #missing = new Map<OperationName, number>();
  readonly #clock: Clock;
  readonly #registersByConfig: boolean;
  dryRun: DryRunProof;
  /** Whether `postModelVersion` was seen to register a version; null while unknown. */
  seenRegistering: boolean | null;
  released: ReadonlySet<Identity>;
  /** Orphans that the history showed when the ledger had no records; null where it was not read. */
  removed: readonly RemovedEarlier[] | null;
  honoursKeys: boolean;
  /** Whether the last applied source had a configuration. */
  configured: boolean;
  lease: NumberedLease | null;
  /** The id of the subject of our token, or of an earlier write; null while unknown. */
  subject: string | null;
  /** The id of the subject of our last write: only what was agreed to tells a later run what is ours. */
  writtenBy: string | null;
  /** The facts as the ledger has them. */
  #stored: StoredServerFacts;
  /** Counts changes to the known routes. */
  #routeChanges = 0;
  /** The values at the last store to the ledger. */
  #storedState: readonly unknown[];

  /** `registersByConfig`: the operator configured that `postModelVersion` registers versions (`modelVersionWrite: post`). */
  constructor(
    facts: StoredServerFacts,
    { registersByConfig = false, clock }: { readonly registersByConfig?: boolean; readonly clock: Clock },
  ) {
    const routes = Object.entries(facts.routes);
    this.#proven = new Set(routes.flatMap(([name, support]) => (support === "yes" ? [name] : [])));
    this.#clock = clock;
    this.#registersByConfig = registersByConfig;
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

  /** Takes over what the operator has agreed to with an approved apply. */
  agree({ configured, released, removed }: Pick<ServerFactChanges, "configured" | "released" | "removed">): void {
    this.configured = configured ?? this.configured;
    if (removed && !isDeepStrictEqual(removed, this.removed)) this.removed = removed;
    if (released) this.released = new Set(released);
  }

  /** Whether no other holder has had the scope since our last lease: fencing tokens grow by one with each holder. */
  followsOurLease({ scope, number }: NumberedLease): boolean {
    if (number <= 1) return true;
    return this.lease?.scope === scope && number <= this.lease.number + 1;
  }

  get(name: OperationName): "yes" | "no" | undefined {
    if (!this.has(name)) return "no";
    return this.#proven.has(name) ? "yes" : undefined;
  }

  set(name: OperationName, support: "yes" | "no"): void {
    this.#routeChanges += 1;
    if (support === "yes") {
      this.#missing.delete(name);
      this.#proven.add(name);
    } else {
      this.#missing.set(name, this.#clock.monotonic());
      this.#proven.delete(name);
    }
  }

  has(name: OperationName): boolean {
    const since = this.#missing.get(name);
    return since === undefined || this.#clock.monotonic() - since >= MISSING_MS;
  }

  /** Whether the route is known to exist or to be missing. */
  knows(name: OperationName): boolean {
    return isDocumented(operation(name)) || this.get(name) !== undefined;
  }

  /** The missing ones of these operations. */
  missing(names: readonly OperationName[]): readonly OperationName[] {
    return names.filter((name) => !this.has(name));
  }

  get registers(): boolean | null {
    return this.#registersByConfig || this.seenRegistering;
  }

  /** The facts changed since the last call; null if none. */
  takeChanges(): ServerFactChanges | null {
    const state = this.#state();
    if (state.every((value, at) => value === this.#storedState[at])) return null;
    const [before, facts] = [this.#stored, this.facts()];
    this.#storedState = state;
    this.#stored = facts;
    const { routes, ...others } = facts;
    const { routes: oldRoutes, ...oldOthers } = before;
    const learned = { ...changed(oldOthers, others), routes: changed(oldRoutes, routes) };
    return learned;
  }

  // Called around every write, so it must be cheap.
  #state(): readonly unknown[] {
    const { dryRun, seenRegistering, honoursKeys, configured, released, removed, lease, writtenBy } = this;
    return [dryRun, seenRegistering, honoursKeys, configured, released, removed, lease, writtenBy, this.#routeChanges];
  }

  /** The facts to store for the next run. */
  facts(): StoredServerFacts {
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
