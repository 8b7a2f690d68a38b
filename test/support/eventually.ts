import { setTimeout as pause } from "node:timers/promises";

/**
 * Looks again and again until there is something to see, and answers it; fails when it takes many times as long as on
 * two busy processors.
 */
export async function eventually<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  { withinMs = 150_000, everyMs = 10 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<NonNullable<Exclude<Seen, false>>> {
  const end = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== null && seen !== undefined && seen !== false) return seen as NonNullable<Exclude<Seen, false>>;
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(everyMs);
  }
}
