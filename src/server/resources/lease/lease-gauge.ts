import type { ResourceGauge } from "../../metrics/resource-gauge.ts";

/** The number of leases that are held now. */
export const leaseGauge: ResourceGauge = {
  name: "holdfast_leases",
  help: "Leases that are held.",
  shownTo: "trusted",
  read: async ({ store, now }) => {
    const { held } = await store.read
      .selectFrom("leases")
      .select(({ fn }) => fn.countAll().as("held"))
      .where("holder", "!=", "")
      .where("expires_at", ">", now())
      .executeTakeFirstOrThrow();
    return Number(held);
  },
};
