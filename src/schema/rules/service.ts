import { type JsonObject, text } from "../../contract/json.ts";
import { applicationRules } from "../application-rules.ts";
import type { Rule } from "../rule.ts";
import { type SchemaDiagnostic, warning } from "../schema-diagnostic.ts";

/** Rules of services. */
export const rules: readonly Rule[] = [...applicationRules, length];

const DOCUMENTED = 25;

function length({ name }: JsonObject): readonly SchemaDiagnostic[] {
  const given = text(name)?.length ?? 0;
  if (given <= DOCUMENTED) return [];
  return [warning("/name", "out-of-range", `\`name\` has ${given} characters: the platform documents ${DOCUMENTED}`)];
}
