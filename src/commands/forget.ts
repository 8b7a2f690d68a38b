import { changeRecords } from "./change-records.ts";
import type { InvocationOf } from "./command.ts";
import type { forget } from "./declarations/forget.ts";

/** Drops the records of resources that are no longer declared; live resources are not changed. */
export async function run(invocation: InvocationOf<typeof forget>): Promise<number> {
  const { args: identities, flags } = invocation;
  const whole = { ...invocation, args: [], flags: { ...flags, partial: true } };
  const report = await changeRecords(whole, { is: "forget", identities });
  return typeof report === "number" ? report : 0;
}
