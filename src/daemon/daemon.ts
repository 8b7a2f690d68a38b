import { type FailureCode, HoldfastError } from "../core/errors.ts";
import type { PassEnd, PassEvent } from "../core/events.ts";
import { OTHER_WRITER } from "../core/other-writer.ts";
import { createLeader } from "../engine/leader.ts";
import type { PassContext } from "../engine/pass.ts";
import { requireOwnState } from "../engine/read-desired.ts";
import { reconcile } from "../engine/reconcile.ts";
import type { Target } from "../engine/target.ts";
import { createTrigger, loop } from "./loop.ts";
import { createSourceWatcher } from "./source-watcher.ts";

/** How a daemon runs. */
export type DaemonContext = PassContext & {
  readonly intervalMs: number;
  /** Told of a pass that failed; the next one looks again. */
  readonly onFailure: (error: unknown) => void;
};

// Only a token, or a flag, that is refused from the beginning ends it.
const REFUSED: readonly FailureCode[] = ["unauthorized", "invalid"];

/** Reconciles a target on every change of its source, and on an interval, until it is asked to stop. */
export async function runDaemon(target: Target, context: DaemonContext): Promise<void> {
  const { stopping: signal, intervalMs, onFailure } = context;
  const { source, state } = target;
  await requireOwnState(target, signal);
  await target.server.connect(target.rules(source.config.repository));
  await using leader = createLeader();
  const trigger = createTrigger();
  const left = new Set<Promise<void>>();
  const places = { root: source.root, ignore: [state.folder], onChange: trigger.ring, onTrouble: onFailure };
  const watcher = createSourceWatcher(places, { signal });
  let paths = source.config.repository.paths ?? null;
  await watcher.follow(paths);
  const tell = (event: PassEvent): void => {
    if (event.what === "read") paths = event.paths;
    context.tell(event);
  };
  const onLeft = (work: Promise<void>): void => {
    const over = work.catch(onFailure).finally(() => left.delete(over));
    left.add(over);
  };
  const lastGood = { read: null };
  let hasWorked = false;
  const pass = async ({ stopWaiting }: { readonly stopWaiting: AbortSignal }): Promise<void> => {
    try {
      const mode = { is: "apply", approve: null, lastGood, leader, stopWaiting, onLeft } as const;
      const end = await reconcile(target, mode, { ...context, tell });
      hasWorked = true;
      requireNoOtherWriter(end);
      if (end.what === "superseded" || leader.isLost()) trigger.ring();
    } catch (error) {
      if (signal.aborted) return;
      const { code } = error instanceof HoldfastError ? error : { code: "error" as const };
      if (code === "locked" || (!hasWorked && REFUSED.includes(code))) throw error;
      onFailure(error);
    }
    // Paths that are new were not watched while the pass ran.
    if (await watcher.follow(paths)) trigger.ring();
  };
  await loop(pass, { trigger, intervalMs, signal });
  await Promise.all(left);
}

function requireNoOtherWriter(end: PassEnd): void {
  if (end.what !== "applied" || !end.report.outcomes.some(({ error }) => error?.code === OTHER_WRITER)) return;
  throw new HoldfastError(
    "locked",
    "another writer is at work, and this control plane has no leases to keep it apart",
    {
      hint: "stop one of them, or let both use one state folder",
    },
  );
}
