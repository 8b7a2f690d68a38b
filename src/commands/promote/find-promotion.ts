// src/commands/promote: what is promoted from one target to another, and its pull request. See docs/environments.md#promotion.

import { HoldfastError } from "../../core/errors.ts";
import { requireKind } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PromotionCandidate } from "../../core/promotion/promotion.ts";
import type { PassEvent, PromotableEvent, PromotionEvent, ReadEvent } from "../../core/report/events.ts";
import { reconcile } from "../../engine/reconcile.ts";
import type { Target } from "../../engine/target.ts";
import { kindsByType } from "../../kinds/index.ts";
import { nameOf } from "../../manifests/declaration.ts";
import { renameBetween, renameEntries, renameFqns } from "../../model/rename-fqns.ts";
import { closestName } from "../../schema/closest-name.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { type FoundTargets, retiredTarget } from "../targets/find-targets.ts";
import { mayReadOneBranch, otherReaderOf } from "../targets/other-reader-of.ts";
import type { Terminal } from "../terminal.ts";

/** The two targets of a promotion, and all others. */
export type PromotionTargets = {
  readonly from: CommandTarget;
  readonly to: CommandTarget;
  readonly all: readonly CommandTarget[];
};

/** What can be promoted, and how the manifests of the other target have to change. */
export type FoundPromotion = { readonly promotable: PromotableEvent; readonly promotion: PromotionEvent };

/** The targets with these names. */
export function promotionTargets(
  { targets }: FoundTargets,
  [from, to]: readonly [from: string, to: string],
): PromotionTargets {
  if (from === to) {
    throw new HoldfastError("invalid", `${from} cannot be promoted to itself`, { hint: "name two targets" });
  }
  return { from: targetNamed(targets, from), to: targetNamed(targets, to), all: targets };
}

function targetNamed(targets: readonly CommandTarget[], name: string): CommandTarget {
  const found = targets.find(({ choice }) => choice?.name === name);
  if (found?.choice?.fault) throw found.choice.fault;
  if (found?.choice?.isRetired) throw retiredTarget(name);
  if (found !== undefined) return found;
  const names = targets.flatMap(({ choice }) => choice?.name ?? []);
  const near = closestName(name, names);
  const guess = near === undefined ? "" : `did you mean ${near}? `;
  const hint = names.length === 0 ? "targets are declared in the operator's configuration (--config)" : undefined;
  throw new HoldfastError("invalid", `there is no target ${name}`, {
    hint: hint ?? `${guess}there are: ${names.join(", ")}`,
  });
}

/** Looks at both targets, and writes nothing; a source that is refused ends it. */
export async function findPromotion(
  { from, to, all }: PromotionTargets,
  ids: readonly Identity[],
  terminal: Terminal & { readonly emit: (event: PassEvent) => void; readonly isProposed: boolean },
): Promise<FoundPromotion | ReadEvent> {
  const fields = to.choice?.promote ?? null;
  const mode = { is: "promotable", fields } as const;
  const promotable = await reconcile(selecting(from, ids), mode, terminal);
  if (promotable.what !== "promotable") return requireRead(promotable);
  const promotion = await reconcile(
    selecting(to, []),
    {
      is: "promote",
      candidates: namedAsIn(to, from, promotable.candidates),
      // A commit may have come between.
      isOneSource: (revision) => mayReadOneBranch(from, to) && revision === promotable.revision,
      readerOf: (path) => otherReaderOf(path, to, all),
      keepsReceipts: terminal.isProposed,
    },
    terminal,
  );
  return promotion.what === "promotion" ? { promotable, promotion } : requireRead(promotion);
}

// What is live in one target has the names that it gives to clusters and workspaces.
function namedAsIn(
  { choice: to }: CommandTarget,
  { choice: from }: CommandTarget,
  candidates: readonly PromotionCandidate[],
): readonly PromotionCandidate[] {
  const rename = renameBetween(from?.rename ?? {}, to?.rename ?? {});
  if (renameEntries(rename).length === 0) return candidates;
  return candidates.map((candidate) => {
    const { value: live } = renameFqns(candidate.live, rename);
    const { identity } = nameOf(requireKind(kindsByType, candidate.kind), String(live.type), live);
    return { ...candidate, live, as: identity ?? candidate.identity };
  });
}

function requireRead(end: { readonly what: string }): ReadEvent {
  if (isRead(end)) return end;
  throw new TypeError(`a promotion ended with ${end.what}`);
}

function isRead(end: { readonly what: string }): end is ReadEvent {
  return end.what === "read";
}

// What is invalid in either source does not concern the others.
function selecting({ rules, ...target }: CommandTarget, only: readonly Identity[]): Target {
  return {
    ...target,
    rules: (config) => ({ ...rules(config), partial: true, selection: { paths: [], only, kinds: [], exclude: [] } }),
  };
}
