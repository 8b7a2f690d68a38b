import type { JsonObject } from "../contract/json.ts";
import type { SchemaDiagnostic } from "./schema-diagnostic.ts";

/** What a rule may look at besides the manifest. */
export type RuleContext = {
  /** Manifest of the cluster that the resource's workspace is in, where it is known. */
  readonly cluster?: JsonObject | undefined;
  /** The present, to tell past dates; without it none is past. */
  readonly now?: Date;
};

/** One rule that a JSON Schema cannot say. */
export type Rule = (manifest: JsonObject, context: RuleContext) => readonly SchemaDiagnostic[];
