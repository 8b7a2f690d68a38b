// src/engine/order: when commits reach the targets that come after others. See docs/pod.md#order-between-targets.

import { backoff } from "../../clock/backoff.ts";
import type { Clock } from "../../clock/clock.ts";
import { canonical } from "../../contract/json.ts";
import { decisionsAt, holdOnStage } from "../../core/holds.ts";
import { isDriftHeld } from "../../core/report/pass-result.ts";
import type { OutcomeResult } from "../../core/report/report.ts";
import { runWarning } from "../../core/run-warning.ts";
import {
  decidePlace,
  goesFirst,
  isDone,
  type Missing,
  missingText,
  type OrderDecision,
  type OrderRule,
  type StageMember,
} from "../../core/stages/decide-order.ts";
import { sharedObservation } from "../../core/stages/observe-health.ts";
import type { Stage } from "../../core/stages/stages.ts";
import { progressAfter, type TargetProgress, withBegun } from "../../core/stages/target-progress.ts";
import { SourceError } from "../../source/source-error.ts";
import type { TargetState } from "../../state/state.ts";
import type { Stoppable } from "../run.ts";
import type { PassOfOrder, Target, TargetOrder } from "../target.ts";
import { createCommitHealth } from "./commit-health.ts";
import { decideWithLive, type Examination, progressOf } from "./earlier-targets.ts";

/** The target whose order it is. */
export type OrderOwner = {
  readonly name: string;
  readonly rule: OrderRule;
  /** A digest of what the operator's configuration makes of a commit here: with another one, it is other content. */
  readonly configuration: string;
  readonly state: TargetState;
  /** Whether a daemon applies its commits. */
  readonly isWatched: boolean;
  /** Whether a person has allowed to apply a commit before its order is met. */
  readonly isAllowed: boolean;
  /** Longer times between two observations of its health do not count. */
  readonly maxGapMs: number;
};

/** The targets around a target. */
export type OrderPlaces = {
  readonly stage: Stage;
  /** How many targets of the stage may apply a new commit at once; null for all. */
  readonly maxUpdate: number | null;
  /** Whether others wait for it. */
  readonly isFollowed: boolean;
  /** Another target, or this one, only to be read. */
  readonly other: (name: string) => Target;
  readonly examine: Examination;
  /** The same; what several ask for at the same time is read once. */
  readonly examineOnce: Examination;
  /** Runs one piece of work at a time. */
  readonly inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Called after an observation of the target. */
  readonly onObserved: (before: TargetProgress, after: TargetProgress) => void;
};

/** The order of a target, which chooses among the commits that a daemon could apply. */
export type CommitOrder = TargetOrder & {
  /** Whether the target follows others, so that it may apply an older commit than the newest. */
  readonly isOrdered: boolean;
  /** Whether the configuration has changed since a commit was applied, so that this commit too must be chosen again. */
  readonly isReconfigured: () => Promise<boolean>;
  /** The newest of some commits, newest first, that may be applied now; fails if there is none. */
  readonly choose: (candidates: readonly string[], run: Stoppable) => Promise<string>;
};

type Unmet = Exclude<OrderDecision, { readonly is: "met" }>;

/** Creates the order of a target. */
export function createOrder(owner: OrderOwner, places: OrderPlaces, clock: Clock): CommitOrder {
  const { name, rule, configuration, state } = owner;
  const { stage, other } = places;
  const isOrdered = stage.after.length > 0;
  const { earlier: names, retired, unmatched } = stage;
  const earlier = { rule, names, retired, unmatched, other, examine: places.examineOnce };
  const isObserved = places.isFollowed || places.maxUpdate !== null;
  const observeCommit = createCommitHealth((commit, run) => places.examine(name, commit, run), owner.maxGapMs, clock);
  let chosen: string | null = null;
  let overridden: string | null = null;
  let taken: string | null = null;
  // What this process has observed last.
  let observed: string | null = null;
  const decide = async (candidates: readonly string[], run: Stoppable): Promise<OrderDecision> => {
    const [newest] = candidates;
    if (newest === undefined) return UNCOMMITTED;
    if (!isOrdered) return { is: "met", commit: newest };
    const progress = await (await state.target()).progress();
    const allowed = isReconfigured(progress, owner) ? undefined : progress.allowed;
    if (allowed === undefined || !candidates.includes(allowed)) return decideWithLive(earlier, candidates, run);
    // What a person has let through goes on, also if its apply has not ended whole.
    const newer = candidates.slice(0, candidates.indexOf(allowed));
    const decision = newer.length === 0 ? null : await decideWithLive(earlier, newer, run);
    return decision?.is === "met" ? decision : { is: "met", commit: allowed };
  };
  const choose = async (candidates: readonly string[], run: Stoppable): Promise<string> => {
    await requireUnheld(owner, stage, clock);
    const decision = await decide(candidates, run);
    if (decision.is !== "met") throw notMet(name, decision);
    const place = await takePlace(decision.commit, owner, places, run);
    if (place.missing.length > 0) throw notMet(name, { is: "waiting", missing: place.missing });
    if (place.isNew) taken = decision.commit;
    chosen = decision.commit;
    return chosen;
  };
  const override = async (revision: string | null, run: Stoppable): Promise<void> => {
    await requireUnheld(owner, stage, clock);
    if (!isOrdered) return;
    const decision = await decide(revision === null ? [] : [revision], run);
    if (decision.is !== "met") overridden = missingText(decision.missing);
  };
  const release = async (): Promise<void> => {
    if (taken === null) return;
    const commit = taken;
    taken = null;
    await (await state.target()).advance((before) => (before.begun === commit ? withBegun(before, null) : before));
  };
  return {
    hasOthers: isOrdered || isObserved,
    isOrdered,
    isReconfigured: async () => isReconfigured(await (await state.target()).progress(), owner),
    choose,
    overridden: () => overridden,
    release,
    require: async (revision, run) => {
      if (revision !== null && (revision === chosen || (await isAppliedIn(owner, revision)))) return;
      if (owner.isAllowed) return override(revision, run);
      if (revision !== null || isOrdered) await choose(revision === null ? [] : [revision], run);
    },
    warnings: async (revision, run) => {
      if (!isOrdered || (revision !== null && (await isAppliedIn(owner, revision)))) return [];
      const decision = await decide(revision === null ? [] : [revision], run);
      if (decision.is === "met") return [];
      const { message, hint } = notMet(name, decision);
      return [runWarning("order-not-met", `apply refuses this: ${message}`, hint)];
    },
    observe: async (pass, run) => {
      const store = await state.target();
      const before = await store.progress();
      const isSent = hasSent(pass);
      const { commit } = pass;
      if (isSent && overridden !== null && commit !== null)
        await store.advance((stored) => ({ ...stored, allowed: commit }));
      const isChosen = isOrdered || places.maxUpdate !== null;
      if (isChosen && hasConfigured(pass)) await store.advance((stored) => ({ ...stored, configuration }));
      if (!isSent) await release();
      taken = null;
      const observation = isObserved ? await observeCommit(other(name), pass, run) : null;
      if (observation === null) return;
      const keepsPlace = owner.isWatched || !isSent;
      const after = await store.advance((stored, now) => {
        const isOwn = observed === latest(stored);
        const { maxGapMs } = owner;
        const seen = progressAfter(
          stored,
          sharedObservation(observation, stored.commits.at(-1), { now, isOwn, maxGapMs }),
        );
        return places.maxUpdate === null ? seen : placed(seen, rule, keepsPlace);
      });
      observed = latest(after);
      places.onObserved(before, after);
    },
  };
}

function latest({ commits }: TargetProgress): string {
  return canonical(commits.at(-1) ?? null);
}

const UNCOMMITTED: Unmet = {
  is: "waiting",
  missing: [{ target: "the source", what: "has content that is in no commit" }],
};

function notMet(name: string, { is, missing }: Unmet): SourceError {
  const [reason, verb] = is === "halted" ? (["Halted", "is halted"] as const) : (["Waiting", "waits"] as const);
  return new SourceError(reason, `target ${name} ${verb}: ${missingText(missing)}`, {
    hint: "holdfast status shows the stages; apply --allow-order applies the commit all the same",
  });
}

async function requireUnheld({ state }: OrderOwner, { name }: Stage, { now }: Clock): Promise<void> {
  const hold = holdOnStage(decisionsAt(await (await state.target()).decisions(), now()));
  if (hold === null) return;
  throw new SourceError("Held", `stage ${name} is held until ${hold.until}: ${hold.reason}`, {
    hint: `holdfast release stage/${name} ends that`,
  });
}

// What is applied already stays: its order was met, or a person allowed it.
async function isAppliedIn(owner: OrderOwner, revision: string): Promise<boolean> {
  const store = await owner.state.target();
  if (isReconfigured(await store.progress(), owner)) return false;
  if ((await store.memory()).appliedCommit === revision) return true;
  return (await store.status())?.appliedRevision === revision;
}

// A state of an earlier release does not know its configuration.
function isReconfigured({ configuration }: TargetProgress, owner: OrderOwner): boolean {
  return configuration !== undefined && configuration !== owner.configuration;
}

// A freeze that leaves out everything brings nothing of the configuration to the target.
function hasConfigured(pass: PassOfOrder): boolean {
  const results = pass.applied?.report.outcomes.flatMap((one) => (isDriftHeld(one) ? [] : [one.result]));
  return results !== undefined && (hasSent(pass) || !results.some((one) => one === "skipped" || one === "blocked"));
}

// What a hold, a freeze or a gate leaves changes nothing.
function hasSent({ applied }: PassOfOrder): boolean {
  return applied === null || applied.report.outcomes.some(({ result }) => !NOT_SENT.includes(result));
}

const NOT_SENT: readonly OutcomeResult[] = ["unchanged", "skipped", "blocked", "invalid"];

// A target keeps its place until it is done, also with another commit, since the one that took it may be gone. A daemon
// has taken it before the commit was applied.
function placed(progress: TargetProgress, { when }: OrderRule, keepsPlace: boolean): TargetProgress {
  const last = progress.commits.at(-1);
  if (last === undefined) return progress;
  if (isDone(last, when)) return withBegun(progress, null);
  return keepsPlace ? progress : withBegun(progress, last.commit);
}

/** A place of `maxUpdate`: who takes all of them, or nobody, and whether the target had none before. */
type Place = { readonly missing: readonly Missing[]; readonly isNew: boolean };

// Those that took a place at the same time all give it back, which takes them a write each.
const TRIES = 7;
const WAIT = { first: 50, most: 2000 };

async function takePlace(commit: string, owner: OrderOwner, places: OrderPlaces, run: Stoppable): Promise<Place> {
  const { maxUpdate } = places;
  if (maxUpdate === null) return { missing: [], isNew: false };
  let hasPrecedence = false;
  for (let tries = 1; ; tries += 1) {
    const { isFirst, ...place } = await tryPlace(commit, owner, { ...places, maxUpdate });
    hasPrecedence = isFirst ?? hasPrecedence;
    if (place.missing.length === 0 || !hasPrecedence || tries === TRIES) return place;
    await run.clock.sleep(backoff(tries, WAIT), { signal: run.stopping });
  }
}

/** An attempt to take a place; where others took one at the same time, whether the target goes before them. */
type PlaceAttempt = Place & { readonly isFirst: boolean | null };

function tryPlace(
  commit: string,
  owner: OrderOwner,
  { maxUpdate, ...places }: OrderPlaces & { readonly maxUpdate: number },
): Promise<PlaceAttempt> {
  const { stage, inTurn } = places;
  const names = stage.targets.filter((name) => name !== owner.name);
  const others = (): Promise<readonly StageMember[]> => Promise.all(names.map((name) => memberOf(name, places)));
  return inTurn(async () => {
    const store = await owner.state.target();
    const isNew = (await store.progress()).begun === null;
    const before = isNew ? await others() : [];
    const missing = decidePlace(before, maxUpdate);
    if (missing.length > 0) return { missing, isNew, isFirst: null };
    await store.advance((progress) => withBegun(progress, commit));
    // Another process may have taken a place at the same time. Whoever sees that gives its own back, so that there are never more.
    const after = isNew ? await others() : [];
    const late = decidePlace(after, maxUpdate);
    if (late.length === 0) return { missing: [], isNew, isFirst: null };
    await store.advance((progress) => withBegun(progress, null));
    return { missing: late, isNew, isFirst: goesFirst(owner.name, { before, after }, maxUpdate) };
  });
}

// A target whose state cannot be read may be applying a commit.
async function memberOf(name: string, { other }: Pick<OrderPlaces, "other">): Promise<StageMember> {
  const progress = await progressOf(other(name).state);
  return { target: name, begun: progress === null ? "of unknown" : progress.begun };
}
