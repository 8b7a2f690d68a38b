import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import type { PassEvent } from "../core/report/events.ts";
import { kindsByType } from "../kinds/index.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import type { Desired } from "./load/desired.ts";
import type { DesiredRead } from "./load.ts";
import type { PlanContext } from "./plan-against-live.ts";
import type { HoldsInForce, TargetConnection } from "./target.ts";

/** The callbacks, clock, randomness and signals of a pass. */
export type PassContext = {
  readonly emit: (event: PassEvent) => void;
  readonly clock: Clock;
  readonly random: Random;
  /** A stop request: no new work starts, and requests in flight finish. */
  readonly stopping: AbortSignal;
  /** Also aborts requests in flight. */
  readonly signal: AbortSignal;
};

/** A pass with its source read and its server connected. */
export type Pass = {
  readonly connection: TargetConnection;
  readonly read: DesiredRead;
  /** The part of the source to reconcile; null for everything selected. */
  readonly part: Desired | null;
  readonly context: PassContext;
  readonly holds: HoldsInForce;
  /** The warnings about the run so far. */
  readonly warnings: () => readonly Diagnostic[];
};

/** The context for reading live and planning in a pass. */
export function planContextIn(
  { connection: { session }, read: { rules }, context }: Pick<Pass, "connection" | "read" | "context">,
  recorded: ReadonlyMap<Identity, ReceiptHead>,
  {
    records,
    guards = null,
    creates = rules.dryRunsCreates ? "dry-run" : "skipped",
    cache = session.cache,
    readsEach = false,
    seeksOrphans = true,
  }: Pick<PlanContext, "records"> &
    Partial<Pick<PlanContext, "guards" | "creates" | "cache" | "readsEach" | "seeksOrphans">>,
): PlanContext {
  const { server, reader, probeRoute, serverFacts, saveServerFacts, ledger, sink } = session;
  return {
    server,
    reader,
    probeRoute,
    serverFacts,
    saveServerFacts,
    ledger,
    recorded,
    cache,
    readsEach,
    seeksOrphans,
    kinds: kindsByType,
    ignore: rules.ignore,
    hasSink: sink !== null,
    concurrency: rules.concurrency,
    writers: rules.writers,
    clock: context.clock,
    ...(rules.allowShrink ? {} : { liveLimits: rules.guards }),
    records,
    guards,
    creates,
    stopping: context.stopping,
  };
}
