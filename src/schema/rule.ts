import type { JsonObject } from "../contract/json.ts";
import type { SchemaDiagnostic } from "./schema-diagnostic.ts";

/** The context that a rule may use besides the manifest. */
export type RuleContext = {
  /** The manifest of the cluster that the resource's workspace is in, if known. */
  readonly cluster?: JsonObject | undefined;
  /** The current time; without it no date counts as past. */
  readonly now?: Date;
};

/** A rule that a JSON Schema cannot express. */
export type Rule = (manifest: JsonObject, context: RuleContext) => readonly SchemaDiagnostic[];
