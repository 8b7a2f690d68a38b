import type { ResourceGauge } from "../metrics/resource-gauge.ts";

/** The number of rollouts that have not ended. */
export const rolloutGauge: ResourceGauge = {
  name: "holdfast_rollouts_in_progress",
  help: "Rollouts that have not ended.",
  shownTo: "everyone",
  read: async ({ store }) => {
    const { open } = await store.read
      .selectFrom("deployments")
      .select(({ fn }) => fn.countAll().as("open"))
      .where("look_at", "is not", null)
      .executeTakeFirstOrThrow();
    return Number(open);
  },
};
