import { type Glob, globMatcher } from "../../core/selection/glob.ts";
import { closestName } from "../../schema/closest-name.ts";

/** The name or glob nearest to one that matches nothing, which does match one of the names: of resources, or of files. */
export function nearMatch(pattern: Glob, names: Iterable<string>): string | undefined {
  const candidates = [...names].flatMap((name) => {
    const candidate = corrected(pattern, name, ["/", ":"]);
    return globMatcher(candidate)(name) ? [candidate] : [];
  });
  return closestName(pattern, [...new Set(candidates)]);
}

// The parts of a pattern without wildcards are replaced by those of the name; behind `**` they cannot be told apart.
function corrected(pattern: string, name: string, [separator, ...finer]: readonly string[]): string {
  if (!HAS_WILDCARD.test(pattern)) return name;
  if (separator === undefined) return pattern;
  const known = name.split(separator);
  const parts = pattern.split(separator);
  const across = parts.findIndex((part) => part.includes("**"));
  const all = parts.map((part, at) => (across >= 0 && at > across ? part : corrected(part, known[at] ?? part, finer)));
  return all.join(separator);
}

const HAS_WILDCARD = /[*?]/;
