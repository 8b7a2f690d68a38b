import { holdsAt, holdText } from "../../core/holds.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import { neverRunStatus, retiredStatus } from "../../daemon/status-after-pass.ts";
import type { CommandTarget } from "./create-target.ts";

/** The status of a retired target whose state cannot be read. */
export function retiredTargetUnread({ name, remote }: Pick<CommandTarget, "name" | "remote">): TargetStatus {
  return { ...neverRunStatus(name, remote?.name ?? null), ...retiredStatus(name) };
}

/** The status of a retired target: what its last pass has stored, and why none follows. */
export async function retiredTargetStatus(
  { name, remote, state }: Pick<CommandTarget, "name" | "remote" | "state">,
  now: number,
): Promise<TargetStatus> {
  const store = await state.target();
  const stored = (await store.status()) ?? neverRunStatus(name, remote?.name ?? null);
  return { ...stored, ...retiredStatus(name), held: holdsAt(await store.decisions(), now).map(holdText) };
}
