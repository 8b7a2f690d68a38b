import { HoldfastError } from "../core/errors.ts";
import type { PassEnd } from "../core/events.ts";
import type { ApplyMode } from "./apply-pass.ts";
import { driftPass } from "./drift-pass.ts";
import type { Pass, PassContext } from "./pass.ts";
import { type PlanMode, planPass } from "./plan-pass.ts";
import { type DesiredRead, readDesired } from "./read-desired.ts";
import { requireConfiguration } from "./source-guard.ts";
import type { Target } from "./target.ts";

/** What a pass is made for. */
export type Mode = PlanMode | { readonly is: "drift" } | ApplyMode;

/** Makes one pass over a target: reads its source, compares it with live, and does what the mode says. */
export async function reconcile(target: Target, mode: Mode, context: PassContext): Promise<PassEnd> {
  const read = await readWhatHolds(target, mode, context);
  if (read.event.isRefused) return read.event;
  const connection = await target.server.connect(read.rules);
  requireConfiguration(connection.session.memory, read);
  if (connection.state.isWritable) read.cacheWith(connection.state.key);
  const end = await passIn(mode, { connection, read, context }, target);
  if (mode.is === "apply" && mode.lastGood !== null) mode.lastGood.read = read;
  context.tell(end);
  return end;
}

// A daemon whose source is refused goes on with its last good revision.
async function readWhatHolds(target: Target, mode: Mode, context: PassContext): Promise<DesiredRead> {
  const lastGood = mode.is === "apply" ? mode.lastGood : null;
  try {
    const read = await readDesired(target, { ...context, onConfig: (config) => requireConfigIn(target, config) });
    context.tell(read.event);
    return read;
  } catch (error) {
    const kept = lastGood?.read ?? null;
    if (kept === null || !isRefusal(error) || context.stopping.aborted) throw error;
    const { message, hint, diagnostics } = error;
    context.tell({ what: "kept", revision: kept.desired.revision, message, hint, diagnostics });
    return kept;
  }
}

function isRefusal(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && (error.code === "invalid" || error.code === "refused");
}

// Before anything is read where the ledger is open already, as in a daemon.
function requireConfigIn({ server }: Target, config: Pick<DesiredRead, "rules" | "isConfigured">): void {
  const connection = server.connection();
  if (connection !== null) requireConfiguration(connection.session.memory, config);
}

async function passIn(mode: Mode, pass: Pass, { source }: Target): Promise<PassEnd> {
  switch (mode.is) {
    case "plan":
      return planPass(pass, mode);
    case "drift":
      return driftPass(pass, { isAtBase: source.base !== null });
    case "apply": {
      // Loaded here, so that a pass that writes nothing does not load what writes.
      const { applyPass } = await import("./apply-pass.ts");
      return applyPass(pass, mode);
    }
  }
}
