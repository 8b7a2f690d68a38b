// src/commands/promote: what is promoted from one target to another, and its pull request. See docs/environments.md#promotion.

import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PassEvent, PromotableEvent, PromotionEvent, ReadEvent } from "../../core/report/events.ts";
import { reconcile } from "../../engine/reconcile.ts";
import type { Target } from "../../engine/target.ts";
import { closestName } from "../../schema/closest-name.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { FoundTargets } from "../targets/find-targets.ts";
import type { Terminal } from "../terminal.ts";

/** The two targets of a promotion. */
export type PromotionTargets = { readonly from: CommandTarget; readonly to: CommandTarget };

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
  return { from: targetNamed(targets, from), to: targetNamed(targets, to) };
}

function targetNamed(targets: readonly CommandTarget[], name: string): CommandTarget {
  const found = targets.find(({ choice }) => choice?.name === name);
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
  { from, to }: PromotionTargets,
  ids: readonly Identity[],
  terminal: Terminal & { readonly emit: (event: PassEvent) => void; readonly isProposed: boolean },
): Promise<FoundPromotion | ReadEvent> {
  const fields = to.choice?.promote ?? null;
  const mode = { is: "promotable", fields } as const;
  const promotable = await reconcile(selecting(from, ids), mode, terminal);
  if (promotable.what !== "promotable") return requireRead(promotable);
  const isOneSource = from.remote === to.remote;
  const { candidates } = promotable;
  const promotion = await reconcile(
    selecting(to, []),
    {
      is: "promote",
      candidates,
      keepsReceipts: terminal.isProposed,
      refuse: ({ identity, kind, file, line }, there) => {
        if (!isOneSource || file !== there.file || line !== there.line) return null;
        const detail = `${file} declares it for both targets: what is applied in one is in the other's source already`;
        return { identity, kind, why: "shared", detail };
      },
    },
    terminal,
  );
  return promotion.what === "promotion" ? { promotable, promotion } : requireRead(promotion);
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
