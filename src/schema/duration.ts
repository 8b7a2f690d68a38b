const UNITS: { readonly [unit in string]?: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a duration such as `90m`, `8h` or `2d12h`. */
export function durationMs(text: string): number {
  const parts = text.matchAll(/(\d+)([smhd])/g);
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}
