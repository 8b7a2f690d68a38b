import type { StageStatus } from "../../contract/generated/output.ts";
import { HoldfastError } from "../../core/errors.ts";
import { decisionsAt, holdOnStage } from "../../core/holds.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import { stageStatuses } from "../../core/stages/stage-status.ts";
import { unlessUnreadable } from "../../daemon/pass-recorder.ts";
import { neverRunStatus } from "../../daemon/status-after-pass.ts";
import { progressOf } from "../../engine/order/earlier-targets.ts";
import { closestName } from "../../schema/closest-name.ts";
import type { Invocation } from "../command.ts";
import { type CommandTarget, RECORDED_TARGETS } from "./create-target.ts";
import { type FoundTargets, findTargets } from "./find-targets.ts";

/** A target of a stage, with the state folder of all. */
export type StageTarget = CommandTarget & { readonly stateFolder: string };

/**
 * Does something with each target of the stage that `stage/NAME` names, as the operator's configuration has them, and
 * with the retired targets that were before it.
 */
export async function onStage(
  what: string,
  invocation: Invocation,
  work: (target: StageTarget, place: { readonly isRetired: boolean }) => Promise<void>,
): Promise<void> {
  const name = what.slice("stage/".length);
  if (invocation.flags.target !== undefined) {
    throw new HoldfastError("invalid", "--target chooses one target, and a stage is held as a whole", {
      hint: "leave it out",
    });
  }
  await using opened = await findTargets({ ...invocation, args: [] }, RECORDED_TARGETS);
  const { targets, orders, stateFolder } = opened;
  const stage = orders.stages.find((one) => one.name === name);
  if (stage === undefined) throw noStage(name, orders.stages);
  for (const target of targets) {
    const isRetired = stage.retired.includes(target.name) && target.choice?.isRetired === true;
    if (isRetired || stage.targets.includes(target.name)) await work({ ...target, stateFolder }, { isRetired });
  }
}

function noStage(name: string, stages: readonly { readonly name: string }[]): HoldfastError {
  const names = stages.map((one) => one.name);
  const near = closestName(name, names);
  const hint = names.length === 0 ? "targets are declared in the operator's configuration (--config)" : null;
  return new HoldfastError("invalid", `there is no stage ${name}`, {
    hint: hint ?? (near === undefined ? `there are: ${names.join(", ")}` : `did you mean ${near}?`),
  });
}

/** How far the stages of the targets have come, given their statuses. */
export async function stagesIn(
  { targets, orders }: FoundTargets,
  statuses: readonly TargetStatus[],
  now: number,
): Promise<readonly StageStatus[]> {
  if (orders.stages.length === 0) return [];
  const staged = await Promise.all(
    targets.map(async ({ name, state }) => {
      const status = statuses.find(({ target }) => target === name) ?? neverRunStatus(name, null);
      const decisions = await unlessUnreadable(state, (store) => store.decisions());
      const hold = decisions === null ? null : holdOnStage(decisionsAt(decisions, now));
      const text = hold === null ? null : `until ${hold.until}: ${hold.reason}`;
      return [name, { status, progress: await progressOf(state), hold: text }] as const;
    }),
  );
  return stageStatuses(orders.stages, new Map(staged));
}
