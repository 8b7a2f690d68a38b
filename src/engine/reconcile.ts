// src/engine: one pass over one target. See docs/architecture.md#a-pass.

import type { Approver } from "../contract/generated/output.ts";
import { traced } from "../contract/trace.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { freezeRefusal, type WriteRefusal } from "../core/guards/write-refusal.ts";
import type { PassEvent, PassResult, ReadEvent } from "../core/report/events.ts";
import { strictRefusal, withWarnings } from "../core/run-warning.ts";
import { SourceError } from "../source/source-error.ts";
import { approvedPlan } from "./approved-plan.ts";
import {
  changedManifests,
  isAboutSource,
  lastAppliedInstead,
  memoryAfter,
  type ReadMemory,
} from "./load/pass-memory.ts";
import { requireConfiguration, ShrunkSourceError } from "./load/source-guards.ts";
import { type ConfiguredRules, type DesiredRead, load, type SourceReading } from "./load.ts";
import type { Pass } from "./pass.ts";
import { type AdoptMode, adoptPass } from "./passes/adopt-pass.ts";
import type { ApplyMode } from "./passes/apply-pass.ts";
import { type DriftMode, driftPass } from "./passes/drift-pass.ts";
import { type ForgetMode, forgetPass } from "./passes/forget-pass.ts";
import type { ImportMode } from "./passes/import-pass.ts";
import { type PlanMode, planPass } from "./passes/plan-pass.ts";
import type { PromotableMode } from "./passes/promotable-pass.ts";
import type { PromoteMode } from "./passes/promote-pass.ts";
import type { RedeployMode } from "./passes/redeploy-pass.ts";
import type { ResolveMode } from "./passes/resolve-pass.ts";
import type { UnlockMode } from "./passes/unlock-pass.ts";
import type { UpdateMode } from "./passes/update-pass.ts";
import type { WhyMode } from "./passes/why-pass.ts";
import { requirePolicies } from "./policies/load-policies.ts";
import type { Run } from "./run.ts";
import { isSignedBy, signerOf } from "./signed-inputs.ts";
import type { Target, TargetConnection } from "./target.ts";

/** What a pass does. */
export type Mode =
  | PlanMode
  | DriftMode
  | ApplyMode
  | AdoptMode
  | ForgetMode
  | ImportMode
  | UpdateMode
  | RedeployMode
  | ResolveMode
  | UnlockMode
  | WhyMode
  | PromotableMode
  | PromoteMode;

/** Runs one pass over a target: reads its source, compares it with live, and does what the mode says. */
export function reconcile(target: Target, mode: Mode, run: Run): Promise<PassResult> {
  return traced("pass", { kind: "internal", attributes: { "holdfast.mode": mode.is } }, async () => {
    const { result } = await reconcileOnce(target, mode, null, run);
    return result;
  });
}

/** What a pass of a daemon gets from the one before it, and what that daemon must know before the pass has ended. */
type DaemonPass = {
  readonly memory: ReadMemory;
  /** Called before the first write, with the commit that it is of; absent where the daemon only reports. */
  readonly onWrites?: (commit: string) => Promise<void>;
  /** Called with the paths below its root from which the source is read; null for everything. */
  readonly onRead: (paths: ReadEvent["paths"]) => void;
};

/**
 * Runs one of a daemon's passes: while the source is refused, it continues with the revision that its memory has. Returns
 * the memory for the next pass.
 */
export async function reconcileAgain(
  target: Target,
  mode: PlanMode | ApplyMode,
  daemon: DaemonPass,
  run: Run,
): Promise<{ readonly result: PassResult; readonly memory: ReadMemory }> {
  const { result, memory } = await reconcileOnce(target, mode, daemon, run);
  return { result, memory: memory ?? daemon.memory };
}

/** Explains a value of what a daemon has read already, with live as it is now. */
export async function explainRead(target: Target, mode: WhyMode, read: DesiredRead, run: Run): Promise<PassResult> {
  return (await runPass(read, { target, mode, memory: null, run, onWrites: undefined })).result;
}

/** The result of a pass, and what is to be remembered of it; null where nothing is. */
type Ended = { readonly result: PassResult; readonly memory: ReadMemory | null };

async function reconcileOnce(target: Target, mode: Mode, daemon: DaemonPass | null, run: Run): Promise<Ended> {
  const memory = daemon?.memory ?? null;
  const read = await readNewest(target, { mode, daemon }, run);
  if (read.event.isRefused) return { result: read.event, memory };
  try {
    return await runPass(read, { target, mode, memory, run, onWrites: daemon?.onWrites });
  } catch (error) {
    // Only the comparison with the ledger shows that a source has shrunk.
    if (!(error instanceof ShrunkSourceError)) throw error;
    const kept = await lastAppliedInstead(error, memory, target, run);
    return runPass(kept, { target, mode, memory, run, onWrites: daemon?.onWrites });
  }
}

type PassInput = {
  readonly target: Target;
  readonly mode: Mode;
  readonly memory: ReadMemory | null;
  readonly run: Run;
  readonly onWrites: DaemonPass["onWrites"];
};

async function runPass(found: DesiredRead, { target, mode, memory, onWrites, ...input }: PassInput): Promise<Ended> {
  const { run, warnings } = collectWarnings(found, target, input.run);
  if (mode.is === "plan" && memory === null) await warnOfOrder(found, target, run);
  const approved = approvedPlan(writesIn(mode), found.rules, run.clock.now());
  const connection = await target.server.connect(found.rules);
  const pass = run.random.id();
  target.server.writeFor({ commit: found.desired.revision, pass, ...(approved && { plan: approved.marks }) });
  const read = withSignedConsent(found, mode, connection);
  const isPart = mode.is === "apply" && mode.scope === "changes" && memory !== null;
  requireConfiguration(connection.session.capabilities, read);
  if (connection.state.isWritable) target.sourceCache?.store(connection.state.key);
  if (memory === null) target.sourceCache?.release();
  const part = isPart ? changedManifests(read, memory) : null;
  const fullAt = part === null ? run.clock.now() : null;
  const ended = withDiagnostics(
    await runMode(
      mode,
      {
        connection,
        read,
        part,
        run: { ...run, emit: (event) => run.emit(event.what === "begun" ? { ...event, pass } : event) },
        holds: target.holds,
        drift: target.drift ?? null,
        onWrites: async () => {
          const { revision } = read.desired;
          if (revision !== null) await onWrites?.(revision);
        },
        writeRefusal: () => refusalAt(target, run.clock.now()),
        gates: target.gates ?? null,
        warnings,
      },
      target,
    ),
    [...read.event.selected, ...warnings()],
  );
  const result = approved === null ? ended : withApprovers(ended, approved.approvers);
  // A superseded pass has written nothing: its plan became outdated while it waited for another writer.
  const isRemembered = memory !== null && result.what !== "superseded";
  const after = isRemembered ? await memoryAfter(memory, { read, result, fullAt }, target) : memory;
  run.emit(result);
  return { result, memory: after };
}

/** Why a target must not be written at a time; null if it may be. */
export function refusalAt({ freezes }: Pick<Target, "freezes">, now: number): WriteRefusal | null {
  const freeze = freezes?.at(now) ?? null;
  return freeze === null ? null : freezeRefusal(freeze);
}

// What a branch changes is no commit of the targets before this one yet.
async function warnOfOrder({ desired }: DesiredRead, { order, source }: Target, run: Run): Promise<void> {
  if (order === undefined || source.base !== null) return;
  const warnings = await order.warnings(desired.revision, run);
  if (warnings.length > 0) run.emit({ what: "warned", warnings });
}

// Warnings before a write are errors under `--strict`.
function collectWarnings(
  { rules: { strict } }: DesiredRead,
  { source }: Target,
  run: Run,
): Pick<Pass, "run" | "warnings"> {
  const found: Diagnostic[] = [];
  const emit = (event: PassEvent): void => {
    const warnings = event.what === "warned" ? event.warnings : [];
    if (strict && warnings.length > 0) throw strictRefusal(warnings);
    found.push(...warnings);
    run.emit(event);
  };
  return { run: { ...run, emit }, warnings: () => [...source.warnings(), ...found] };
}

function withDiagnostics(end: PassResult, found: readonly Diagnostic[]): PassResult {
  switch (end.what) {
    case "applied":
      return { ...end, report: reporting(end.report, found) };
    case "drifted":
      return { ...end, report: reporting(end.report, found) };
    case "records":
      return { ...end, report: reporting(end.report, found) };
    case "resolved":
      return { ...end, report: reporting(end.report, found) };
    case "unlocked":
      return { ...end, report: reporting(end.report, found) };
    case "explained":
      return reporting(end, found);
    default:
      return end;
  }
}

function writesIn(mode: Mode): Parameters<typeof approvedPlan>[0] {
  return mode.is === "apply" || mode.is === "redeploy" ? mode : { is: "other" };
}

function withApprovers(end: PassResult, approvers: readonly Approver[]): PassResult {
  return end.what === "applied" ? { ...end, report: { ...end.report, approvers } } : end;
}

function reporting<Report extends { readonly diagnostics: readonly Diagnostic[] }>(
  report: Report,
  found: readonly Diagnostic[],
): Report {
  return { ...report, diagnostics: withWarnings(report.diagnostics, found) };
}

// A signed plan carries the consent that was given when it was made, as far as its signature proves it.
function withSignedConsent(read: DesiredRead, mode: Mode, connection: TargetConnection): DesiredRead {
  const signed = mode.is === "apply" ? mode.signed : null;
  if (!signed?.allows.includes("shrink") || !isSignedBy(signed, signerOf({ connection, read }))) return read;
  return { ...read, rules: { ...read.rules, allowShrink: true } };
}

// When its source is refused, a daemon continues with the revision applied last.
async function readNewest(
  target: Target,
  { mode, daemon }: { readonly mode: Mode; readonly daemon: DaemonPass | null },
  run: Run,
): Promise<DesiredRead> {
  const memory = daemon?.memory ?? null;
  try {
    const onConfig: SourceReading["onConfig"] = (config) => requireConfigIn(target, config);
    const checksBranch = mode.is === "plan" || mode.is === "apply";
    // These read the same files again, with their changes.
    const again = editsFiles(mode) ? { before: null } : readingAgain(memory, target);
    const read = await load(target, run, { ...again, checksBranch, onConfig });
    if (mode.is === "apply") await target.order?.require(read.desired.revision, run);
    // A plan outside a daemon only warns about the checkout.
    if (mode.is === "apply" || memory !== null) requireCheckout(read);
    // Invalid manifests may be left out, policies may not.
    if (isJudged(mode) && !read.event.isRefused) requirePolicies(read.policies);
    daemon?.onRead(read.event.paths);
    run.emit(read.event);
    return read;
  } catch (error) {
    if (!isAboutSource(error)) throw error;
    return lastAppliedInstead(error, memory, target, run);
  }
}

function isJudged({ is }: Mode): boolean {
  return is === "plan" || is === "apply" || is === "redeploy";
}

function editsFiles(mode: Mode): boolean {
  return mode.is === "promote" || mode.is === "update" || (mode.is === "drift" && mode.propose !== undefined);
}

// Only a daemon reads another revision later; other commands need not keep this one in memory.
function readingAgain(memory: ReadMemory | null, { sourceCache }: Target): Partial<SourceReading> {
  if (memory === null) return {};
  return { before: sourceCache === null ? null : memory.lastApplied };
}

function requireCheckout({ checkoutFault }: DesiredRead): void {
  if (checkoutFault === null) return;
  const { message, hint } = checkoutFault;
  throw new SourceError("CheckoutNotReady", message, { hint });
}

// A daemon's ledger is already open, so a lost configuration is refused before any file is read.
function requireConfigIn({ server }: Target, config: ConfiguredRules): void {
  const connection = server.connection();
  if (connection !== null) requireConfiguration(connection.session.capabilities, config);
}

async function runMode(mode: Mode, pass: Pass, { source }: Target): Promise<PassResult> {
  switch (mode.is) {
    case "plan":
      return planPass(pass, mode);
    case "drift":
      return driftPass(pass, { ...mode, isAtBase: source.base !== null });
    case "adopt":
      return adoptPass(pass, mode);
    case "forget":
      return forgetPass(pass, mode);
    case "import": {
      const { importPass } = await import("./passes/import-pass.ts");
      return importPass(pass, mode);
    }
    case "update": {
      const { updatePass } = await import("./passes/update-pass.ts");
      return updatePass(pass, mode);
    }
    case "resolve": {
      const { resolvePass } = await import("./passes/resolve-pass.ts");
      return resolvePass(pass, mode);
    }
    case "unlock": {
      const { unlockPass } = await import("./passes/unlock-pass.ts");
      return unlockPass(pass, mode);
    }
    case "why": {
      const { whyPass } = await import("./passes/why-pass.ts");
      return whyPass(pass, mode);
    }
    case "promotable": {
      const { promotablePass } = await import("./passes/promotable-pass.ts");
      return promotablePass(pass, mode);
    }
    case "promote": {
      const { promotePass } = await import("./passes/promote-pass.ts");
      return promotePass(pass, mode);
    }
    case "redeploy": {
      const { redeployPass } = await import("./passes/redeploy-pass.ts");
      return redeployPass(pass, mode);
    }
    case "apply": {
      // Imported here, so that a pass without writes does not load the write code.
      const { applyPass } = await import("./passes/apply-pass.ts");
      return applyPass(pass, mode);
    }
  }
}
