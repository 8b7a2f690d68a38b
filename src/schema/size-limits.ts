/** The maximum number of values in a manifest, nested ones included. */
export const MAX_VALUES = 20_000;
/** The maximum nesting depth. */
export const MAX_DEPTH = 100;

/** The reason why a value is too large to be validated; null if it is not. The running time is bounded for any value. */
export function exceededLimit(value: unknown): string | null {
  const size = { count: 0, deepest: 0 };
  measure(value, 1, size);
  if (size.count > MAX_VALUES) return `there are more than ${MAX_VALUES.toLocaleString("en")} values`;
  return size.deepest > MAX_DEPTH ? `values are nested more than ${MAX_DEPTH} deep` : null;
}

type Size = { count: number; deepest: number };

// Allocates no memory, since every manifest is measured.
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
