import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { canonical, isObject, type Json } from "../contract/json.ts";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { notUsed } from "../core/not-used.ts";
import { OTHER_WRITER } from "../core/other-writer.ts";
import { type Plan, writes } from "../core/plan.ts";
import type { Applied } from "../engine/apply.ts";
import { follow, recoverPending } from "../engine/follow.ts";
import { type Look, look } from "../engine/look.ts";
import { applyText } from "../render/apply.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { jsonText } from "../render/json.ts";
import { planText } from "../render/plan.ts";
import { tokensText } from "../render/tokens.ts";
import type { Invocation } from "./command.ts";
import { type Connected, openConnection } from "./connection.ts";
import { followOptions, placesIn } from "./following.ts";
import { takeTurn } from "./leading.ts";
import { stayLean } from "./lean-heap.ts";
import { desiredOf, detailIn, groupOf, ignoredIn, lookingAt, otherWriters, whatIsNotUsed } from "./looking.ts";
import { type Prepared, prepare, refuseInvalid } from "./prepare.ts";
import { guardShrinking } from "./shrinking.ts";
import { confirm, isInteractive, writeResult } from "./terminal.ts";

/** Makes live follow the manifests. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  mustBeAgreed(invocation);
  const sealed = flags.plan === undefined ? null : await readPlan(resolve(terminal.cwd, flags.plan));
  const prepared = await prepare(invocation);
  if (refuseInvalid(prepared, invocation)) return exitCodes.invalid;
  await using connected = await openConnection(invocation, prepared, { reading: false });
  const { session, state } = connected;
  await using _lock = await state.lock();
  const following = followOptions(invocation, prepared);
  const options = { ...following, recovered: await recoverPending(session, following) };
  const recorded = await session.recorded();
  const desired = desiredOf(prepared);
  guardShrinking(session, recorded, prepared, flags);
  const looking = lookingAt(session, recorded, prepared, invocation, { records: true });
  const looked = await look(desired, looking);
  if (sealed !== null) mustBeCurrent(sealed, looked.plan);
  if (!(await isAgreed(looked, invocation, prepared))) {
    terminal.stderr.write("nothing was written\n");
    return 0;
  }
  stayLean();
  const { applied, current } = await carryOut(looked, invocation, prepared, connected, {
    options,
    lookAgain: async () => {
      const current = await look(desired, looking);
      if (sealed !== null) mustBeCurrent(sealed, current.plan);
      else if (!flags.yes && current.plan.checksum !== looked.plan.checksum) throw overtaken();
      return current;
    },
  });
  const missing = [...current.notUsed, ...notUsed(session.memory.missing(["putLease"]))];
  await report(applied, { ...current, notUsed: missing }, invocation, prepared);
  // What was done is told first; that the run was cut short then decides the exit code.
  terminal.stopping.throwIfAborted();
  return exitCodeOf(applied);
}

type Carrying = {
  readonly options: Omit<Parameters<typeof follow>[2], "hasLease">;
  readonly lookAgain: () => Promise<Look>;
};

/** Writes in its turn; what was looked at before others wrote is looked at again. */
async function carryOut(
  looked: Look,
  invocation: Invocation,
  prepared: Prepared,
  connected: Connected,
  { options, lookAgain }: Carrying,
): Promise<{ readonly applied: Applied; readonly current: Look }> {
  const { session } = connected;
  if (!looked.plan.steps.some(writes)) {
    // Whoever has written here before knows of leases.
    const hasLease = session.memory.get("putLease") === "yes";
    if (!hasLease) warnOfOthers(looked);
    return { applied: await follow(looked, session, { ...options, hasLease }), current: looked };
  }
  await using turn = await takeTurn(invocation, connected, prepared);
  const { writer, hasLease } = turn;
  const current = turn.mustLookAgain ? await lookAgain() : looked;
  if (!hasLease) warnOfOthers(current);
  return { applied: await follow(current, { ...session, writer }, { ...options, hasLease }), current };

  function warnOfOthers(look: Look): void {
    const warnings = otherWriters(look, session, prepared);
    invocation.terminal.stderr.write(diagnosticsText(warnings, prepared.settings.diagnosticView));
  }
}

function overtaken(): HoldfastError {
  return new HoldfastError("stale", "another writer has changed live since you were asked", { hint: "run it again" });
}

function mustBeAgreed({ flags, terminal }: Invocation): void {
  if (flags.yes || flags.plan !== undefined || isInteractive(terminal)) return;
  throw new HoldfastError("invalid", "apply asks before it writes, and there is nobody to ask", {
    hint: "run it with --yes, or with --plan FILE",
  });
}

async function isAgreed(looked: Look, { flags, terminal }: Invocation, { settings }: Prepared): Promise<boolean> {
  if (flags.yes || flags.plan !== undefined || !looked.plan.steps.some(writes)) return true;
  const view = {
    paint: settings.paint,
    groupOf,
    detailOf: detailIn(looked),
    showUnchanged: false,
    ignored: ignoredIn(looked),
  };
  terminal.stderr.write(planText(looked.plan, view));
  return confirm("Apply this plan?", terminal);
}

/** A plan as its file has it: what it promises, and what it shows. */
type SealedPlan = { readonly checksum: string; readonly shown: string };

async function readPlan(path: string): Promise<SealedPlan> {
  const problem = (cause: unknown): HoldfastError =>
    new HoldfastError("invalid", `${path} is no plan of this version`, {
      hint: "make one with plan --out FILE",
      cause,
    });
  try {
    const plan: unknown = JSON.parse(await readFile(path, "utf8"));
    if (!isObject(plan) || plan.format_version !== "1.0" || typeof plan.checksum !== "string") throw problem(null);
    if (plan.complete !== true) {
      throw new HoldfastError("stale", "the plan is incomplete: live could not be read when it was made", {
        hint: "make it again",
      });
    }
    return { checksum: plan.checksum, shown: shownBy(plan.steps ?? []) };
  } catch (error) {
    throw error instanceof HoldfastError ? error : problem(error);
  }
}

// Whoever read the file agreed to what it shows: steps that were edited under an unchanged checksum are another plan.
function mustBeCurrent(sealed: SealedPlan, plan: Plan): void {
  const current = plan.steps.filter(({ action }) => action !== "keep");
  if (sealed.checksum === plan.checksum && sealed.shown === shownBy(JSON.parse(JSON.stringify(current)))) return;
  throw new HoldfastError("stale", "the plan is stale: manifests or live have changed since it was made", {
    hint: "make it again with plan --out FILE, and look at what changed; what plan was told to select, apply must be told too",
  });
}

// Where a manifest stands and why a field differs depend on the checkout and on the base, not on what is done.
function shownBy(steps: Json): string {
  return canonical(Array.isArray(steps) ? steps.map(bareStep) : steps);
}

function bareStep(step: Json): Json {
  if (!isObject(step)) return step;
  const { file: _file, line: _line, changes, ...rest } = step;
  return { ...rest, changes: Array.isArray(changes) ? changes.map(bareChange) : null };
}

function bareChange(change: Json): Json {
  if (!isObject(change)) return change;
  const { cause: _cause, ...rest } = change;
  return rest;
}

async function report(
  applied: Applied,
  { plan: { diagnostics }, notUsed: missing }: Pick<Look, "plan" | "notUsed">,
  { terminal }: Invocation,
  prepared: Prepared,
): Promise<void> {
  const { settings } = prepared;
  terminal.stderr.write(tokensText(applied.tokens));
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  terminal.stderr.write(diagnosticsText(errors, settings.diagnosticView));
  const { tokens: _, ...contract } = { ...applied, ...whatIsNotUsed({ notUsed: missing }) };
  const text = (): string => applyText(applied, settings.paint, placesIn(prepared), missing);
  await writeResult(terminal, settings.output === "json" ? jsonText(contract) : text());
}

/** 0 when all went well; 1 when nothing did; 7 in between; 8 when another writer took over. */
export function exitCodeOf({ outcomes, summary }: Pick<Applied, "outcomes" | "summary">): number {
  if (
    outcomes.some(({ error }) => error?.status === 401 || error?.status === 403) &&
    summary.created + summary.updated === 0
  ) {
    return exitCodes.unauthorized;
  }
  if (outcomes.some(({ error }) => error?.status === 412 || error?.code === OTHER_WRITER)) return exitCodes.locked;
  const badRollouts = outcomes.filter(({ rollout }) => rollout === "failed" || rollout === "timeout").length;
  const bad = summary.failed + summary.blocked + summary.unknown + badRollouts;
  if (bad === 0) return 0;
  return bad >= outcomes.length && summary.created + summary.updated === badRollouts
    ? exitCodes.error
    : exitCodes.partial;
}
