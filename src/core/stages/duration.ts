const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in its two largest units, such as `4m` or `1m 30s`; smaller parts of it are left out. */
export function durationText(ms: number): string {
  const units = Object.entries(UNITS).toReversed();
  const first = units.findIndex(([, size]) => ms >= size);
  if (first < 0) return "0s";
  let left = ms;
  const parts = units.slice(first, first + 2).flatMap(([name, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? [] : [`${count}${name}`];
  });
  return parts.join(" ");
}
