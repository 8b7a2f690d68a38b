import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type Hold, isOfProposal, OVER, withProposalHolds } from "../../core/holds.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Meter } from "../../daemon/meter.ts";
import type { Run } from "../../engine/run.ts";
import type { DriftAlone, DriftProposer } from "../../engine/target.ts";
import { printable } from "../../render/escape.ts";
import { durationMs } from "../../schema/duration.ts";
import type { Invocation } from "../command.ts";
import type { LookedAt } from "../drift/look-at-drift.ts";
import { tell, tellFailure } from "../output/log-stream.ts";
import { proposalPlace } from "../promote/propose.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { FoundTargets } from "../targets/find-targets.ts";
import { promotionFailures } from "./promotion-failures.ts";

/** What the proposals of a target are made with. */
type Proposing = {
  readonly target: CommandTarget;
  readonly opened: FoundTargets;
  readonly invocation: Invocation;
  readonly meter: Meter | undefined;
};

/** Creates what proposes the drift of a target; null where it is written back. The state says what is held because of it, and the forge what is open. */
export function createDriftProposer({ target, opened, invocation, meter }: Proposing): DriftProposer | null {
  const { clock, stderr } = invocation.terminal;
  const heldFor = target.choice?.driftHold ?? null;
  if (heldFor === null) return null;
  requirePlace({ target, opened, invocation });
  const failures = promotionFailures();
  // What has been told of each resource of which nothing can be proposed.
  let refusals = new Map<Identity, string>();
  let last: { readonly key: string; readonly look: LookedAt } | null = null;
  const isOver = ({ until }: Hold): boolean => Date.parse(until) <= clock.now();

  // Only whether the pull request is still open is asked for what was proposed last.
  const look = async (found: DriftAlone, own: readonly Hold[], run: Run): Promise<LookedAt> => {
    const { lookAtDrift } = await import("../drift/look-at-drift.ts");
    const over = new Set(own.filter(isOver).map(({ what }) => what));
    const only = new Set(found.identities.filter((one) => !over.has(one)));
    const key = JSON.stringify([found.revision, found.digest, [...only].toSorted()]);
    const same = last?.key === key && last.look.open !== null ? last.look : null;
    const asked = { found, only, known: knownIn(own, over), heldFor, isUnchanged: same !== null };
    const result = (await lookAtDrift(asked, { target, opened, invocation }, run)) ?? unchanged(same);
    if (result === null) throw new TypeError("a look without a result");
    last = { key, look: result };
    if (result.change !== null) told(result.change);
    tellRefused(result.refused);
    return result;
  };

  // Before it is written. What is not written, as in a freeze, is found again by the next pass.
  const tellRefused = (refused: LookedAt["refused"]): void => {
    const before = refusals;
    refusals = new Map(refused.map(({ identity, why, detail }) => [identity, `${why}: ${detail}`]));
    for (const { identity, why, detail } of refused) {
      if (before.get(identity) === refusals.get(identity)) continue;
      const message = `drift of ${target.name} is not proposed, so git wins: ${identity}: ${detail}`;
      const fields = { event: "drift-proposal-refused", message, target: target.name, identity, why };
      tell(stderr, { level: "warn", ...fields }, () => `${printable(message)}\n`);
    }
  };

  const told = ({ result, number, url }: NonNullable<LookedAt["change"]>): void => {
    meter?.count("driftProposals", target.name, result);
    if (result === "unchanged") return;
    const message = `drift of ${target.name}: pull request ${number} ${result}${url === null ? "" : `: ${url}`}`;
    const fields = { event: `drift-proposal-${result}`, message, target: target.name, number, url };
    tell(stderr, fields, () => `${printable(message)}\n`);
  };

  const failed = (error: unknown): string => {
    last = null;
    meter?.count("driftProposals", target.name, "failed");
    const { is, message } = failures.failed(error);
    if (is === "told") {
      tellFailure(stderr, "drift-proposal-failed", {
        message: `the drift of ${target.name} cannot be proposed: ${printable(message)}`,
        hint: "it is tried again with the next pass, and nothing of it is written until then",
      });
    }
    return `its change in live waits for a pull request: ${errorMessage(error)}`;
  };

  return {
    propose: async (found, run) => {
      const store = await target.state.target();
      const own = (await store.decisions()).holds.filter(isOfProposal);
      if (found.identities.length === 0 && own.length === 0) {
        refusals.clear();
        return new Set();
      }
      const now = clock.now();
      const before = { own, until: new Date(now + durationMs(heldFor)).toISOString(), now };
      const next = await look(found, own, run).then(
        (looked) => {
          failures.succeeded();
          return holdsAfter(looked, found, before);
        },
        (error: unknown) => {
          run.stopping.throwIfAborted();
          return waitingHolds(found, failed(error), before);
        },
      );
      if (JSON.stringify(next) !== JSON.stringify(own))
        await store.decide((decisions) => withProposalHolds(decisions, next));
      const held = new Set(next.filter((hold) => !isOver(hold)).map(({ what }) => what));
      return new Set(found.identities.filter((one) => !held.has(one)));
    },
    written: async (identities) => {
      for (const identity of identities) refusals.delete(identity);
      const store = await target.state.target();
      const written = new Set(identities);
      await store.decide((decisions) => {
        const own = decisions.holds.filter(isOfProposal);
        return withProposalHolds(
          decisions,
          own.filter(({ what, pullRequest }) => !written.has(what) || pullRequest !== null),
        );
      });
    },
  };
}

// A daemon that can propose nothing would hold everything until its time is over.
function requirePlace({ target, opened, invocation }: Omit<Proposing, "meter">): void {
  try {
    proposalPlace(target, opened.operator, invocation);
  } catch (cause) {
    if (!(cause instanceof HoldfastError)) throw cause;
    const message = `target ${target.name} has \`drift: propose\`, and its pull requests have no place: ${cause.message}`;
    const hint =
      "name the forge and its token by `commitStatus` of the source, or as a CI job does (GITHUB_ACTIONS, GITHUB_REPOSITORY …) with HOLDFAST_FORGE_TOKEN";
    throw new HoldfastError(cause.code, message, { hint, cause });
  }
}

function unchanged(look: LookedAt | null): LookedAt | null {
  return look && { ...look, change: look.change && { ...look.change, result: "unchanged" } };
}

function knownIn(own: readonly Hold[], over: ReadonlySet<Identity>) {
  const named = own.filter(({ pullRequest }) => pullRequest != null);
  const known = (named.find(({ what }) => !over.has(what)) ?? named[0])?.pullRequest ?? null;
  if (known === null) return null;
  const held = named.filter(({ what, pullRequest }) => pullRequest?.number === known.number && !over.has(what));
  return { ...known, held: new Set(held.map(({ what }) => what)) };
}

/** What was held before a look, the end of what is held from now on, and the time. */
type Before = { readonly own: readonly Hold[]; readonly until: string; readonly now: number };

// Of what git has won it is remembered until it is written, so that it is not proposed anew.
function holdsAfter(
  { proposed, open, closed }: LookedAt,
  { identities }: DriftAlone,
  { own, until, now }: Before,
): readonly Hold[] {
  const known = new Map(own.map((hold) => [hold.what, hold]));
  return identities.flatMap((what): Hold[] => {
    const before = known.get(what);
    if (closed.has(what) || (before !== undefined && Date.parse(before.until) <= now))
      return [{ what, reason: "git wins", until: OVER, pullRequest: null }];
    if (!proposed.has(what) || open === null) return [];
    const { number, url } = open;
    const reason = `its change in live is proposed in pull request ${number}${url === null ? "" : `: ${url}`}`;
    return [{ what, reason, until: before?.until ?? until, pullRequest: { number, url } }];
  });
}

// What is proposed of the others is closed by a later look.
function waitingHolds({ identities }: DriftAlone, reason: string, { own, until }: Before): readonly Hold[] {
  const known = new Map(own.map((hold) => [hold.what, hold]));
  const others = own.filter(({ what, pullRequest }) => pullRequest !== null && !identities.includes(what));
  const waiting = identities.map((what) => {
    const { pullRequest = null, until: end = until } = known.get(what) ?? {};
    return { what, reason, until: end, pullRequest };
  });
  return [...waiting, ...others];
}
