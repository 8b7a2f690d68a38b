import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { camel } from "./kinds.ts";

/** Source text of `src/schema/rules/index.ts`: one row for each file of the folder. */
export function rulesText(root: string): string {
  const types = readdirSync(join(root, "src", "schema", "rules"))
    .filter((name) => name.endsWith(".ts") && name !== "index.ts")
    .map((name) => basename(name, ".ts"))
    .toSorted();
  return [
    "// Generated from the files of this folder by `npm run generate`.",
    'import type { Rule } from "../rule.ts";',
    ...types.map((type) => `import { rules as ${camel(type)} } from "./${type}.ts";`),
    "",
    "/** The rules of the types that have some of their own. */",
    "export const rulesByType: ReadonlyMap<string, readonly Rule[]> = new Map([",
    ...types.map((type) => `  [${JSON.stringify(type)}, ${camel(type)}],`),
    "]);",
    "",
  ].join("\n");
}
