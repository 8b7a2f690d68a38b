import { HoldfastError } from "../../core/errors.ts";
import { emptyGuard, shrinkGuard } from "../../core/guards/mass-change-guards.ts";
import type { Identity } from "../../core/manifest.ts";
import type { KnownServer } from "../known-server.ts";
import type { Rules } from "../target.ts";
import type { DesiredRead } from "./read-desired.ts";

/** Refuses to act on a source that lost too many resources, unless the operator allows it. */
export function requireUnshrunk(
  serverFacts: KnownServer,
  recorded: ReadonlyMap<Identity, unknown>,
  declared: ReadonlySet<Identity>,
  { allowShrink, guards }: Rules,
): void {
  if (allowShrink) {
    serverFacts.released = new Set([...recorded.keys()].filter((identity) => !declared.has(identity)));
    return;
  }
  const shrunk = shrinkGuard(countedOf(serverFacts, recorded, declared), declared, guards);
  if (shrunk !== null) throw refused(shrunk);
}

/** Refuses to plan a source that lost everything, unless the operator allows it. */
export function requireUnemptied(
  serverFacts: KnownServer,
  recorded: ReadonlyMap<Identity, unknown>,
  declared: ReadonlySet<Identity>,
  { allowShrink }: Rules,
): void {
  if (allowShrink || declared.size > 0) return;
  const emptied = emptyGuard(countedOf(serverFacts, recorded, declared), declared);
  if (emptied !== null) throw refused(emptied);
}

/** Refuses a source that lost its configuration, unless the operator allows it. */
export function requireConfiguration(
  { configured }: KnownServer,
  { isConfigured, rules }: Pick<DesiredRead, "isConfigured" | "rules">,
): void {
  if (!configured || isConfigured || rules.allowShrink) return;
  throw refused("the source no longer has a holdfast.yaml, so other rules would apply");
}

function countedOf(
  { released }: KnownServer,
  recorded: ReadonlyMap<Identity, unknown>,
  declared: ReadonlySet<Identity>,
): readonly Identity[] {
  return [...recorded.keys()].filter((identity) => declared.has(identity) || !released.has(identity));
}

/** The source has lost so many resources that a mistake is likely. */
export class ShrunkSourceError extends HoldfastError {}

function refused(why: string): ShrunkSourceError {
  return new ShrunkSourceError("refused", why, {
    hint: "nothing is written until the source is complete again; if the change is intended, run with --allow-shrink",
  });
}
