const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in its largest whole unit, such as `4m`; parts of it are left out. */
export function durationText(ms: number): string {
  const units = Object.entries(UNITS).toReversed();
  const [name, size] = units.find(([, length]) => ms >= length) ?? ["s", 1000];
  return `${Math.floor(ms / size)}${name}`;
}
