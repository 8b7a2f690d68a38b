/** A time as display text, in UTC and to the second. */
export function timestampText(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d+Z$/, "Z");
}
