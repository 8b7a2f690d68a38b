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
    'import type { Kind } from "../core/kind.ts";',
    ...types.map((type) => `import { kind as ${camel(type)} } from "./${type}.ts";`),
    "",
    "/** Every kind that Holdfast manages. */",
    ...listLines("export const kinds: readonly Kind[] = ", types.map(camel)),
    "",
    "const byType: ReadonlyMap<string, Kind> = new Map(",
    "  kinds.flatMap((kind) => [kind.type, ...(kind.aliases ?? [])].map((type) => [type, kind] as const)),",
    ");",
    "",
    "/** The kind that a manifest's `type` declares, aliases included. */",
    "export function kindOf(type: string): Kind | undefined {",
    "  return byType.get(type);",
    "}",
    "",
  ].join("\n");
}

/** A list as the formatter breaks it: on one line while it fits. */
export function listLines(head: string, names: readonly string[]): readonly string[] {
  const line = `${head}[${names.join(", ")}];`;
  return line.length <= 120 ? [line] : [`${head}[`, ...names.map((name) => `  ${name},`), "];"];
}

/** `chat_prompt` and `ml-repo` as names of variables. */
export function camel(type: string): string {
  return type.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
}
