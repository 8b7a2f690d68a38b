import { isObject } from "../contract/json.ts";
import { applicationRules } from "./application-rules.ts";
import { FAULT_LIMIT, type Fault } from "./fault.ts";
import type { MeaningContext } from "./rule.ts";
import { rulesByType } from "./rules/index.ts";

/** Everything that a manifest of sound form means wrongly, until that is enough; at most 100 faults. */
export function checkMeaning(
  type: string,
  value: unknown,
  context: MeaningContext = {},
  isEnough: () => boolean = () => false,
): readonly Fault[] {
  if (!isObject(value)) return [];
  const faults: Fault[] = [];
  for (const rule of rulesByType.get(type) ?? applicationRules) {
    if (isEnough()) break;
    faults.push(...rule(value, context));
  }
  return faults.slice(0, FAULT_LIMIT);
}
