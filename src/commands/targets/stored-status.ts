import { holdsAt, holdText } from "../../core/holds.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import { freezeStatus, neverRunStatus, statusAtRest } from "../../daemon/status-after-pass.ts";
import type { CommandTarget } from "./create-target.ts";
import { retiredTargetStatus } from "./retired-target.ts";

/** The status of a target as its last pass has left it. */
export async function storedStatus(one: CommandTarget, now: number): Promise<TargetStatus> {
  const { name, remote, state, freezes } = one;
  const { fault = null, isRetired = false } = one.choice ?? {};
  if (isRetired) return retiredTargetStatus(one, now);
  const store = await state.target();
  const held = holdsAt(await store.decisions(), now).map(holdText);
  const stored = (await store.status()) ?? neverRunStatus(name, remote?.name ?? null);
  if (fault !== null) return { ...stored, condition: "Stalled", reason: "Invalid", message: fault.message, held };
  return { ...((await state.isLocked()) ? stored : statusAtRest(stored)), held, ...freezeStatus(freezes, now) };
}

/** Whether a daemon watches a target. */
export function isWatched({ choice }: CommandTarget): boolean {
  return choice?.sync !== "off" && !choice?.isRetired;
}
