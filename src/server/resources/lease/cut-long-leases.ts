import type { Context } from "../../context.ts";
import { lockLeases } from "./rows.ts";

/**
 * Cuts leases that end later than one taken now could: they were taken before the clock was set back, or with a longer
 * maximum, and would exclude others for that time.
 */
export async function cutLongLeases({ store, now, maxLeaseSeconds, log }: Context): Promise<void> {
  const maximum = maxLeaseSeconds * 1000;
  const long = await store.read
    .selectFrom("leases")
    .select("scope")
    .where("expires_at", ">", now() + maximum)
    .limit(1)
    .execute();
  if (long.length === 0) return;
  const cut = await store.write(async (transaction) => {
    await lockLeases(transaction);
    const end = (await store.time(transaction)) + maximum;
    const rows = await transaction
      .updateTable("leases")
      .set({ expires_at: end })
      .where("expires_at", ">", end)
      .returning(["scope", "holder"])
      .execute();
    return rows.map((row) => ({ ...row, end: new Date(end).toISOString() }));
  });
  for (const lease of cut)
    log.warn({ event: "lease-cut", ...lease }, "a lease ended later than the maximum allows and was cut");
}
