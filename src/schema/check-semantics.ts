import { isObject } from "../contract/json.ts";
import { applicationRules } from "./application-rules.ts";
import type { RuleContext } from "./rule.ts";
import { rulesByType } from "./rules/index.ts";
import { MAX_SCHEMA_DIAGNOSTICS, type SchemaDiagnostic } from "./schema-diagnostic.ts";

/** Checks a schema-valid manifest by the rules that a schema cannot express, until `isEnough`; at most 100 results. */
export function checkSemantics(
  type: string,
  value: unknown,
  context: RuleContext = {},
  isEnough: () => boolean = () => false,
): readonly SchemaDiagnostic[] {
  if (!isObject(value)) return [];
  const faults: SchemaDiagnostic[] = [];
  for (const rule of rulesByType.get(type) ?? applicationRules) {
    if (isEnough()) break;
    faults.push(...rule(value, context));
  }
  return faults.slice(0, MAX_SCHEMA_DIAGNOSTICS);
}
