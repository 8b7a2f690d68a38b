import type { Identity } from "../../core/manifest.ts";
import { type Glob, globMatcher } from "../../core/selection/glob.ts";
import { closestName } from "../../schema/closest-name.ts";

/** The name or glob nearest to one that matches nothing, which does match a declared resource. */
export function nearIdentity(pattern: Glob, declared: Iterable<Identity>): string | undefined {
  const candidates = [...declared].flatMap((identity) => {
    const candidate = correctedGlob(pattern, identity);
    return globMatcher(candidate)(identity) ? [candidate] : [];
  });
  return closestName(pattern, [...new Set(candidates)]);
}

// The parts of a pattern without wildcards are replaced by those of the identity; behind `**` they cannot be told apart.
function correctedGlob(pattern: Glob, identity: Identity): Glob {
  const parts = pattern.split("/");
  const known = identity.split("/");
  if (!HAS_WILDCARD.test(pattern)) return identity;
  const across = parts.findIndex((part) => part.includes("**"));
  const isOwn = (part: string, at: number): boolean => HAS_WILDCARD.test(part) || (across >= 0 && at > across);
  return parts.map((part, at) => (isOwn(part, at) ? part : (known[at] ?? part))).join("/");
}

const HAS_WILDCARD = /[*?]/;
