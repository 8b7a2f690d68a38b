// src/schema/rules: the rules of kinds that a schema cannot express. See docs/architecture.md#a-new-kind.

import { type JsonObject, text } from "../../contract/json.ts";
import { applicationRules } from "../application-rules.ts";
import { duplicates, objectsOf, type Rule, type RuleContext } from "../rule.ts";
import type { SchemaDiagnostic } from "../schema-diagnostic.ts";

/** Rules of application sets. */
export const rules: readonly Rule[] = [names, components];

function names(manifest: JsonObject): readonly SchemaDiagnostic[] {
  return duplicates(
    manifest.components,
    (index) => `/components/${index}/name`,
    ({ name }) => text(name),
    "name",
  );
}

// Each component is an application, and is checked by the rules for applications.
function components(manifest: JsonObject, context: RuleContext): readonly SchemaDiagnostic[] {
  return objectsOf(manifest.components).flatMap(({ item, index }) =>
    applicationRules
      .flatMap((rule) => rule(item, context))
      .map((fault) => ({ ...fault, pointer: `/components/${index}${fault.pointer}` })),
  );
}
