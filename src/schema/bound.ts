/** How many values, nested ones included, a manifest may hold. */
export const VALUE_LIMIT = 20_000;
/** How deep values may be nested. */
export const DEPTH_LIMIT = 100;

/** Why a value is too large to be checked, or null; the work is bounded whatever the value. */
export function tooLarge(value: unknown): string | null {
  let count = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= DEPTH_LIMIT) return `values are nested more than ${DEPTH_LIMIT} deep`;
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== "object" || item === null) continue;
      const inner = Array.isArray(item) ? item : Object.values(item);
      count += inner.length;
      if (count > VALUE_LIMIT) return `there are more than ${VALUE_LIMIT.toLocaleString("en")} values`;
      for (const child of inner) if (typeof child === "object" && child !== null) next.push(child);
    }
    level = next;
  }
  return null;
}
