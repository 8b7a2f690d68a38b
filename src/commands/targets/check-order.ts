import { type OrderedTarget, orderFault } from "../../core/stages/stages.ts";
import type { ConfigFile, OperatorConfig } from "../../source/read-config.ts";
import type { ChosenSources, TargetChoice } from "./choose-targets.ts";
import type { SourceChoice } from "./configured-sources.ts";
import type { TargetEntry } from "./expand-pattern.ts";
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
export function requireOrder(
  choices: readonly TargetChoice[],
  { entries }: ChosenSources,
  files: readonly ConfigFile[],
): void {
  const fault = orderFault(orderedTargets(choices), { mayMatchNone: entries.some(({ each }) => each) });
  if (fault === null) return;
  const after = choices.find(({ name }) => name === fault.target)?.order.after;
  const place = files.flatMap((file) => placeOf(file, (entry) => entry.name === fault.target || entry.after === after));
  throw refusedConfig([...place, fault.why].join(": "), fault.hint);
}

// The targets of a pattern have the `after` of its entry.
function placeOf({ operator, places }: ConfigFile, isMeant: (entry: TargetEntry) => boolean): readonly string[] {
  const found = places.get(`/targets/${(operator.targets ?? []).findIndex(isMeant)}`);
  return found === undefined ? [] : [`${found.file}:${found.line}:${found.column}`];
}

/** Refuses promotions between targets that do not exist; those of a pattern may come later. */
export function requirePromotions(
  { promotions }: OperatorConfig,
  choices: readonly TargetChoice[],
  { entries }: ChosenSources,
): void {
  const names = new Set(choices.map(({ name }) => name));
  const pairs = (promotions ?? []).map(({ from, to }) => ({ name: `${from} to ${to}`, from, to }));
  requireDistinct("promotion", pairs);
  for (const { name, from, to } of pairs) {
    if (from === to)
      throw refusedConfig(`the promotion of ${name} is to the same target`, "name two targets in `promotions`");
    const unknown = entries.some(({ each }) => each) ? undefined : [from, to].find((one) => !names.has(one));
    if (unknown !== undefined)
      throw refusedConfig(`\`promotions\` names no target ${unknown}`, `there are: ${[...names].join(", ")}`);
  }
}
