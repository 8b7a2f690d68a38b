import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { duplicates, objectsOf, type Rule } from "../rule.ts";
import { type SchemaDiagnostic, warning } from "../schema-diagnostic.ts";

/** Rules of chat prompts. */
export const rules: readonly Rule[] = [weights, functions, serverTools];

function weights({ routing_config: routing }: JsonObject): readonly SchemaDiagnostic[] {
  if (!isObject(routing) || routing.type !== "weight-based-routing") return [];
  const given = objectsOf(routing.load_balance_targets).map(({ item }) => item.weight);
  const sum = given.reduce<number>((total, weight) => total + (typeof weight === "number" ? weight : 0), 0);
  if (given.length === 0 || near(sum, 1) || near(sum, 100)) return [];
  return [warning("/routing_config/load_balance_targets", "inconsistent", "the weights sum neither to 1 nor to 100")];
}

// Sums of fractions such as 0.1 are not exact.
function near(sum: number, whole: number): boolean {
  return Math.abs(sum - whole) <= 1e-6 * whole;
}

function functions({ tools }: JsonObject): readonly SchemaDiagnostic[] {
  const name = (tool: JsonObject) => (isObject(tool.function) ? text(tool.function.name) : undefined);
  return duplicates(tools, (index) => `/tools/${index}/function/name`, name, "function name");
}

function serverTools({ mcp_servers: servers }: JsonObject): readonly SchemaDiagnostic[] {
  return objectsOf(servers).flatMap(({ item, index }) =>
    duplicates(
      item.tools,
      (at) => `/mcp_servers/${index}/tools/${at}/name`,
      ({ name }) => text(name),
      "name",
    ),
  );
}
