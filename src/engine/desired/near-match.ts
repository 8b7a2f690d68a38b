import { type Glob, globMatcher } from "../../core/selection/glob.ts";
import { closestName } from "../../schema/closest-name.ts";

/** The name or glob nearest to one that matches nothing, which does match one of the names: of resources, or of files. */
export function nearMatch(pattern: Glob, names: Iterable<string>): string | undefined {
  const candidates = [...names].flatMap((name) => {
    const candidate = correctedGlob(pattern, name);
    return globMatcher(candidate)(name) ? [candidate] : [];
  });
  return closestName(pattern, [...new Set(candidates)]);
}

// The parts of a pattern without wildcards are replaced by those of the name; behind `**` they cannot be told apart.
function correctedGlob(pattern: Glob, name: string): Glob {
  if (!HAS_WILDCARD.test(pattern)) return name;
  const parts = pattern.split(SEPARATORS);
  const known = name.split(SEPARATORS);
  const across = parts.findIndex((part) => part.includes("**"));
  const isOwn = (part: string, at: number): boolean => HAS_WILDCARD.test(part) || (across >= 0 && at > across);
  return parts.map((part, at) => (isOwn(part, at) ? part : (known[at] ?? part))).join("");
}

const HAS_WILDCARD = /[*?]/;
const SEPARATORS = /([/:])/;
