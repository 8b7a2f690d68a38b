import { type OrderedTarget, orderFault } from "../../core/stages/stages.ts";
import type { ConfigFile, OperatorConfig } from "../../source/read-config.ts";
import type { ChosenSources, TargetChoice } from "./choose-targets.ts";
import { placeIn } from "./configured-places.ts";
import type { SourceChoice } from "./configured-sources.ts";
import { refusedConfig, requireDistinct } from "./refused-config.ts";

/** The targets as their configuration orders them. */
export function orderedTargets(choices: readonly TargetChoice[]): readonly OrderedTarget[] {
  return choices.map(({ name, source, order: { after, stage } }) => ({
    name,
    after,
    stage,
    follows: followed(source),
  }));
}

function followed(source: SourceChoice | null): string {
  if (source === null) return "the local folder";
  const { address, ref } = source;
  return `${ref ?? "the default branch"} of ${address.url}`;
}

/** Refuses an order of targets that cannot be met, where the configuration has it. */
export function requireOrder(choices: readonly TargetChoice[], { entries, placeOf }: ChosenSources): void {
  for (const { name, after, when, soak } of entries) {
    const key = soak ? "soak" : when ? "when" : null;
    if (key === null || after?.length) continue;
    const why = `\`${key}\` of target ${name} has no effect, since it comes after no target`;
    throw refusedConfig(why, "add `after`, or leave it out", placeOf(name, key));
  }
  const fault = orderFault(orderedTargets(choices), { mayMatchNone: entries.some(({ each }) => each) });
  if (fault !== null) throw refusedConfig(fault.why, fault.hint, placeOf(fault.target, "after"));
}

/** Refuses promotions between targets that do not exist; those of a pattern may come later. */
export function requirePromotions(
  { promotions }: OperatorConfig,
  choices: readonly TargetChoice[],
  { entries }: ChosenSources,
  files: readonly ConfigFile[],
): void {
  const names = new Set(choices.map(({ name }) => name));
  const pairs = (promotions ?? []).map(({ from, to }) => ({ name: `${from} to ${to}`, from, to }));
  requireDistinct("promotion", pairs);
  for (const [at, { name, from, to }] of pairs.entries()) {
    const placeOf = (key: "from" | "to") => placeIn(files, "promotions", at, key);
    if (from === to) {
      const why = `the promotion of ${name} is to the same target`;
      throw refusedConfig(why, "name two targets in `promotions`", placeOf("to"));
    }
    const unknown = entries.some(({ each }) => each) ? undefined : [from, to].find((one) => !names.has(one));
    if (unknown === undefined) continue;
    const why = `\`promotions\` names no target ${unknown}`;
    throw refusedConfig(why, `there are: ${[...names].join(", ")}`, placeOf(unknown === from ? "from" : "to"));
  }
}
