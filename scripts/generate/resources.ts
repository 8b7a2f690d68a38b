import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { camel, listLines } from "./kinds.ts";

/** Source text of `src/server/resources/index.ts`: one row for each file and folder beside it. */
export function resourcesText(root: string): string {
  const entries = readdirSync(join(root, "src", "server", "resources"), { withFileTypes: true })
    .filter((entry) => entry.name !== "index.ts")
    .map((entry) => ({ name: basename(entry.name, ".ts"), isFolder: entry.isDirectory() }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [
    "// Generated from the files and folders beside it by `npm run generate`.",
    'import type { Resource } from "../resource.ts";',
    ...entries.map(
      ({ name, isFolder }) =>
        `import { resource as ${camel(name)} } from "./${name}${isFolder ? "/resource.ts" : ".ts"}";`,
    ),
    "",
    "/** Every resource that the server has. */",
    ...listLines(
      "export const resources: readonly Resource[] = ",
      entries.map(({ name }) => camel(name)),
    ),
    "",
  ].join("\n");
}
