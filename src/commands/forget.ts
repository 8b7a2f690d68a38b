import { changeRecords } from "./change-records.ts";
import type { InvocationOf } from "./command.ts";
import type { forget } from "./declarations/forget.ts";

/** Drops the records of what is declared no more; what is live stays. */
export async function run(invocation: InvocationOf<typeof forget>): Promise<number> {
  const { args: identities, flags } = invocation;
  const whole = { ...invocation, args: [], flags: { ...flags, partial: true } };
  const report = await changeRecords(whole, { is: "forget", identities });
  return typeof report === "number" ? report : 0;
}
