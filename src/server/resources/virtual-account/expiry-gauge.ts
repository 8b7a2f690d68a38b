import type { ResourceGauge } from "../../metrics/resource-gauge.ts";
import { endOfDay } from "./expiry.ts";

/** When the next account expires, and its tokens with it. */
export const expiryGauge: ResourceGauge = {
  name: "holdfast_token_expiry_timestamp_seconds",
  help: "When the next virtual account expires, and its tokens with it; 0 if none will.",
  shownTo: "trusted",
  read: async ({ store, now }) => {
    const today = new Date(now()).toISOString().slice(0, 10);
    const { day } = await store.read
      .selectFrom("virtual_accounts")
      .select(({ fn }) => fn.min("expires_on").as("day"))
      .where("expires_on", ">=", today)
      .executeTakeFirstOrThrow();
    return (endOfDay(day) ?? 0) / 1000;
  },
};
