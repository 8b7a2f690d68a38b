import type { ResourceGauge } from "../../resource.ts";

const DAY = 86_400_000;

/** When the next account expires, and its tokens with it. */
export const expiryGauge: ResourceGauge = {
  name: "holdfast_token_expiry_timestamp_seconds",
  help: "When the next virtual account expires, and its tokens with it; 0 if none will.",
  shownTo: "trusted",
  read: async ({ store, clock }) => {
    const today = new Date(clock.now()).toISOString().slice(0, 10);
    const { day } = await store.read
      .selectFrom("virtual_accounts")
      .select(({ fn }) => fn.min("expires_on").as("day"))
      .where("expires_on", ">=", today)
      .executeTakeFirstOrThrow();
    return (endOfDay(day) ?? 0) / 1000;
  },
};

/** The end of a day (`yyyy-mm-dd`, UTC), in epoch milliseconds; null without a date. */
export function endOfDay(date: string | null | undefined): number | null {
  if (date === null || date === undefined) return null;
  const start = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(start) ? null : start + DAY;
}

/** Whether an account is expired: it is valid until the end of its last day, UTC. */
export function isExpired(date: string | null | undefined, now: number): boolean {
  const end = endOfDay(date);
  return end !== null && now >= end;
}

/** When a token issued at `issued` is due for rotation, by an interval in days; null without token or rotation. */
export function nextScheduledRotation(intervalDays: number | null, issued: number | null): number | null {
  return intervalDays === null || issued === null ? null : issued + intervalDays * DAY;
}

/** When the predecessor of a token issued at `issued` becomes invalid, by a grace period in days. */
export function endOfGrace(graceDays: number, issued: number): number {
  return issued + graceDays * DAY;
}
