import { pointerTokens } from "../contract/reference.ts";
import { type Glob, globMatches } from "./glob.ts";
import type { Identity } from "./manifest.ts";

/** A field that somebody else keeps: differences there are counted, never acted on. */
export type IgnoreRule = {
  /** JSON Pointer in which `*` stands for one step; everything below it is ignored too. */
  readonly path: string;
  /** Glob over identities; all when absent. */
  readonly match?: Glob;
  readonly reason: string;
  readonly owner?: string;
  /** `yyyy-mm-dd`, the last day on which the rule holds. */
  readonly expires?: string;
};

/** The tokens of each rule that holds for the resource on the day (`yyyy-mm-dd`). */
export function rulesFor(
  rules: readonly IgnoreRule[],
  identity: Identity,
  today: string,
): readonly (readonly string[])[] {
  return rules
    .filter(
      ({ match, expires }) =>
        (match === undefined || globMatches(match, identity)) && (expires === undefined || expires >= today),
    )
    .map(({ path }) => pointerTokens(path));
}

/** Whether a path lies at or below one of the ignored ones. */
export function isIgnored(rules: readonly (readonly string[])[], tokens: readonly string[]): boolean {
  return rules.some(
    (rule) => rule.length <= tokens.length && rule.every((step, index) => step === "*" || step === tokens[index]),
  );
}
