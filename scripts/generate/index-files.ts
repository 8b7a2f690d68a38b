import { readdirSync } from "node:fs";
import { basename, join } from "node:path";

/** Source text of `src/kinds/index.ts`: one row for each file of the folder. */
export function kindsText(root: string): string {
  const types = readdirSync(join(root, "src", "kinds"))
    .filter((name) => name.endsWith(".ts") && name !== "index.ts")
    .map((name) => basename(name, ".ts"))
    .toSorted();
  return [
    "// Generated from the files of this folder by `npm run generate`.",
    'import type { Kind, Kinds } from "../core/kind.ts";',
    ...types.map((type) => `import { kind as ${camel(type)} } from "./${type}.ts";`),
    "",
    "/** Every kind that Holdfast manages. */",
    ...listLines("export const kinds: readonly Kind[] = ", types.map(camel)),
    "",
    "/** The same, by each type that declares one. */",
    "export const kindsByType: Kinds = new Map(",
    "  kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),",
    ");",
    "",
    "/** The kind that a manifest's `type` declares, aliases included. */",
    "export function kindOf(type: string): Kind | undefined {",
    "  return kindsByType.get(type);",
    "}",
    "",
  ].join("\n");
}

/** A list as the formatter breaks it: on one line while it fits. */
function listLines(head: string, names: readonly string[]): readonly string[] {
  const line = `${head}[${names.join(", ")}];`;
  return line.length <= 120 ? [line] : [`${head}[`, ...names.map((name) => `  ${name},`), "];"];
}

/** `chat_prompt` and `ml-repo` as names of variables. */
function camel(type: string): string {
  return type.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Source text of `src/server/resources/index.ts`: one row for each file and folder beside it. */
export function resourcesText(root: string): string {
  const entries = readdirSync(join(root, "src", "server", "resources"), { withFileTypes: true })
    .filter((entry) => entry.name !== "index.ts")
    .map((entry) => ({ name: basename(entry.name, ".ts"), isFolder: entry.isDirectory() }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return [
    "// Generated from the files and folders beside it by `npm run generate`.",
    'import type { ResourceDefinition } from "../resource.ts";',
    ...entries.map(
      ({ name, isFolder }) =>
        `import { resource as ${camel(name)} } from "./${name}${isFolder ? "/resource.ts" : ".ts"}";`,
    ),
    "",
    "/** Every resource that the server has. */",
    ...listLines(
      "export const resources: readonly ResourceDefinition[] = ",
      entries.map(({ name }) => camel(name)),
    ),
    "",
  ].join("\n");
}

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

/** Source text of `src/engine/sinks/index.ts`: one row for each file of the folder. */
export function sinksText(root: string): string {
  const names = readdirSync(join(root, "src", "engine", "sinks"))
    .filter((name) => name.endsWith(".ts") && name !== "index.ts")
    .map((name) => basename(name, ".ts"))
    .toSorted();
  return [
    "// Generated from the files of this folder by `npm run generate`.",
    'import type { SinkType } from "../token-sink.ts";',
    ...names.map((name) => `import { sink as ${name} } from "./${name}.ts";`),
    "",
    "/** Every sink that can be chosen. */",
    `export const sinks: readonly SinkType[] = [${names.join(", ")}];`,
    "",
    "/** The default sink, used where none is chosen. */",
    "export const defaultSink: SinkType | null = sinks.find(({ isDefault }) => isDefault) ?? null;",
    "",
  ].join("\n");
}
