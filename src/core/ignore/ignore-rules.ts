// src/core/ignore: fields that rules leave as live has them. See docs/plan.md#whose-change-it-is.

import { pointerTokens } from "../../contract/json-pointer.ts";
import { type Glob, globMatcher } from "../../model/glob.ts";
import type { Identity } from "../manifest.ts";

/** A field that another system owns: its differences are counted, never acted on. */
export type IgnoreRule = {
  /** JSON Pointer in which `*` matches one segment; everything below it is ignored too. */
  readonly path: string;
  /** Glob over identities; all when absent. */
  readonly match?: Glob;
  readonly reason: string;
  readonly owner?: string;
  /** `yyyy-mm-dd`, the last day on which the rule applies. */
  readonly expires?: string;
};

/** Returns the path tokens of each rule that applies to a resource. */
export type RuleFinder = (identity: Identity) => readonly (readonly string[])[];

const NONE: ReturnType<RuleFinder> = [];

/** A finder for the rules in force on a day (`yyyy-mm-dd`). Results are kept, so they can be computed ahead. */
export function ruleFinder(rules: readonly IgnoreRule[], today: string): RuleFinder {
  const inForce = rules
    .filter(({ expires }) => expires === undefined || expires >= today)
    .map(({ match = "**", path }) => ({ matches: globMatcher(match), tokens: pointerTokens(path) }));
  if (inForce.length === 0) return () => NONE;
  const known = new Map<Identity, ReturnType<RuleFinder>>();
  return (identity) => {
    const before = known.get(identity);
    if (before !== undefined) return before;
    const holding = inForce.filter(({ matches }) => matches(identity));
    const found = holding.length === 0 ? NONE : holding.map(({ tokens }) => tokens);
    known.set(identity, found);
    return found;
  };
}

/** Whether a path is at or below one of the ignored paths. */
export function isIgnored(rules: readonly (readonly string[])[], tokens: readonly string[]): boolean {
  return rules.some(
    (rule) => rule.length <= tokens.length && rule.every((step, index) => step === "*" || step === tokens[index]),
  );
}
