import { isObject } from "../contract/json.ts";
import { FAULT_LIMIT, type Fault } from "./fault.ts";
import { promptMeaning } from "./meaning/chat-prompt.ts";
import { clusterMeaning } from "./meaning/cluster.ts";
import type { MeaningContext, Rule } from "./meaning/rule.ts";
import { serviceMeaning } from "./meaning/service.ts";
import { virtualAccountMeaning } from "./meaning/virtual-account.ts";

const rules: { readonly [type: string]: readonly Rule[] } = {
  chat_prompt: promptMeaning,
  cluster: clusterMeaning,
  service: serviceMeaning,
  "virtual-account": virtualAccountMeaning,
};

/** Everything that a manifest of sound form means wrongly, until that is enough; at most 100 faults. */
export function checkMeaning(
  type: string,
  value: unknown,
  context: MeaningContext = {},
  isEnough: () => boolean = () => false,
): readonly Fault[] {
  if (!isObject(value) || !Object.hasOwn(rules, type)) return [];
  const faults: Fault[] = [];
  for (const rule of rules[type] ?? []) {
    if (isEnough()) break;
    faults.push(...rule(value, context));
  }
  return faults.slice(0, FAULT_LIMIT);
}
