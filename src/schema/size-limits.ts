/** How many values, nested ones included, a manifest may hold. */
export const MAX_VALUES = 20_000;
/** How deep values may be nested. */
export const MAX_DEPTH = 100;

/** Why a value is too large to be checked, or null; the work is bounded whatever the value. */
export function exceededLimit(value: unknown): string | null {
  const size = { count: 0, deepest: 0 };
  measure(value, 1, size);
  if (size.count > MAX_VALUES) return `there are more than ${MAX_VALUES.toLocaleString("en")} values`;
  return size.deepest > MAX_DEPTH ? `values are nested more than ${MAX_DEPTH} deep` : null;
}

type Size = { count: number; deepest: number };

// Makes nothing of what is inside: every manifest is measured, and hardly any is too large.
function measure(value: unknown, depth: number, size: Size): void {
  if (!isNested(value)) return;
  size.deepest = Math.max(size.deepest, depth);
  if (Array.isArray(value)) for (const item of value) measureInside(item, depth, size);
  else for (const key in value) measureInside(value[key], depth, size);
}

function measureInside(value: unknown, depth: number, size: Size): void {
  size.count += 1;
  if (size.count <= MAX_VALUES && size.deepest <= MAX_DEPTH) measure(value, depth + 1, size);
}

function isNested(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null;
}
