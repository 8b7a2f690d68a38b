import type { RouteProbe } from "../client/route-probe.ts";
import type { DryRunReply } from "../core/decide.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Kind } from "../core/kind.ts";
import { type Identity, requireRead } from "../core/manifest.ts";
import { writes } from "../core/plan.ts";
import type { PlanWithDecisions, WavedManifest } from "../core/planner.ts";
import type { DryRun, DryRunResult } from "./dry-run.ts";
import type { KnownServer } from "./known-server.ts";
import { isOfSource, unreadableDiagnostic } from "./observe.ts";

/** What dry runs need of their surroundings. */
export type Preflight = {
  readonly kindOf: (type: string) => Kind | undefined;
  readonly memory: KnownServer;
  readonly probeRoute: RouteProbe;
  readonly signal: AbortSignal;
  /** Takes what the dry runs left open. */
  readonly unclear: Diagnostic[];
};

/**
 * Asks the server, by dry run, what it would make of manifests that seem to differ: its defaults and rewrites are no
 * differences. The first manifest of a kind whose write is an extension also shows whether the server has it, or a probe of
 * the route does, where there is no dry run.
 */
export async function preflight(
  { plan, decisions }: PlanWithDecisions,
  placed: readonly WavedManifest[],
  known: ReadonlyMap<Identity, DryRunReply>,
  dryRun: DryRun,
  on: Preflight,
): Promise<ReadonlyMap<Identity, DryRunReply>> {
  const asked = new Map<Identity, DryRunReply>();
  const creating = new Set(
    plan.steps.filter(({ action }) => action === "create" || action === "ensure").map(({ identity }) => identity),
  );
  const probed = new Set<Kind>();
  const isOpen = ({ manifest: { identity } }: WavedManifest): boolean =>
    decisions.has(identity) && !known.has(identity);
  const jobs = placed.filter(isOpen).flatMap(({ manifest }) => {
    const kind = on.kindOf(manifest.kind);
    const action = decisions.get(manifest.identity)?.action;
    if (kind === undefined || action === undefined) return [];
    const settles = action === "update" && !manifest.references.some(({ identity }) => creating.has(identity));
    const probes = writes({ action }) && isUncharted(kind, on.memory) && !probed.has(kind);
    if (probes) probed.add(kind);
    return settles || probes ? [{ kind, manifest, settles, probes }] : [];
  });
  await Promise.all(
    jobs.map(async ({ kind, manifest, settles, probes }) => {
      if (probes) await orPass(probe(kind, on), on);
      const tried = await orPass(dryRun(kind, requireRead(manifest), on), on);
      // A probe that is refused for what does not exist yet tells of the route alone.
      if (settles && tried.state !== "impossible") asked.set(manifest.identity, tried);
    }),
  );
  return asked;
}

// A dry run tells of the route too, where there is one.
async function probe({ write: [first] }: Kind, on: Preflight): Promise<DryRunResult> {
  if (first !== undefined && first.dryRun === undefined) await on.probeRoute(first.operation, on);
  return { state: "impossible" };
}

// Without the server's word on its defaults the schema's stand; the plan itself does not hang on it. Whether there is a
// way to write decides what is planned.
async function orPass(asking: Promise<DryRunResult>, { unclear }: Preflight): Promise<DryRunResult> {
  return asking.catch((error: unknown) => {
    if (!isOfSource(error)) throw error;
    const isNew = !unclear.some(({ summary }) => summary.includes(error.message));
    if (error.reason === "route-unclear" && isNew) {
      unclear.push(unreadableDiagnostic(error.operation, error, "the plan is not complete: this may not be writable"));
    }
    return { state: "impossible" };
  });
}

function isUncharted({ write: [first] }: Kind, memory: KnownServer): boolean {
  return first !== undefined && !memory.knows(first.operation);
}
