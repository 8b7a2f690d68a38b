import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import { HoldfastError } from "../../core/errors.ts";
import { emptyGuard, shrinkGuard } from "../../core/guards/mass-change-guards.ts";
import type { Identity } from "../../core/manifest.ts";
import type { ServerFactChanges } from "../../core/server-facts.ts";
import type { ConfiguredRules } from "../load.ts";
import type { LivePlan } from "../plan.ts";
import type { Rules } from "../target.ts";

/** The recorded and the declared resources of a source, and what the operator has agreed to before. */
type Counted = {
  readonly capabilities: ServerCapabilities;
  readonly recorded: ReadonlyMap<Identity, unknown>;
  readonly declared: ReadonlySet<Identity>;
};

/** A source that lost too many resources: why that is refused, and which ones are missing. */
export type ShrunkSource = { readonly error: ShrunkSourceError; readonly missing: readonly Identity[] };

/** Finds whether a source lost too many resources to be applied; null where it did not, or where the operator allows it. */
export function findShrunk(counted: Counted, { allowShrink, guards }: Rules): ShrunkSource | null {
  if (allowShrink) return null;
  const known = countedOf(counted);
  const why = shrinkGuard(known, counted.declared, guards);
  if (why === null) return null;
  return { error: refused(why), missing: known.filter((identity) => !counted.declared.has(identity)) };
}

/** Refuses to act on a source that lost too many resources, unless the operator allows it. */
export function requireUnshrunk(counted: Counted, rules: Rules): void {
  const shrunk = findShrunk(counted, rules);
  if (shrunk !== null) throw shrunk.error;
}

/** Refuses to plan a source that lost everything, unless the operator allows it. */
export function requireUnemptied(counted: Counted, { allowShrink }: Rules): void {
  if (allowShrink || counted.declared.size > 0) return;
  const emptied = emptyGuard(countedOf(counted), counted.declared);
  if (emptied !== null) throw refused(emptied);
}

/** Refuses a source that lost its configuration, unless the operator allows it. */
export function requireConfiguration(
  { configured }: ServerCapabilities,
  { isConfigured, rules }: ConfiguredRules,
): void {
  if (!configured || isConfigured || rules.allowShrink) return;
  throw refused("the source no longer has a holdfast.yaml, so other rules would apply");
}

/** What an approved apply agrees to: which resources may stay missing, and whether the source has a configuration. */
export function agreedFacts(
  { recorded, desired: { declared, outOfScope } }: LivePlan,
  { isConfigured: configured, rules }: ConfiguredRules,
): Pick<ServerFactChanges, "configured" | "released"> {
  // A part of the source does not show what is missing.
  if (!rules.allowShrink || outOfScope !== undefined) return { configured };
  return { configured, released: [...recorded.keys()].filter((identity) => !declared.has(identity)) };
}

function countedOf({ capabilities, recorded, declared }: Counted): readonly Identity[] {
  return [...recorded.keys()].filter((identity) => declared.has(identity) || !capabilities.released.has(identity));
}

/** The source has lost so many resources that a mistake is likely. */
export class ShrunkSourceError extends HoldfastError {}

function refused(why: string): ShrunkSourceError {
  return new ShrunkSourceError("refused", why, {
    hint: "nothing is written until the source is complete again; if the change is intended, run plan, apply or watch with --allow-shrink",
  });
}
