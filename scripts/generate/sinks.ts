import { readdirSync } from "node:fs";
import { basename, join } from "node:path";

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
    "/** The sink of whoever may use one and has chosen none. */",
    "export const defaultSink: SinkType | null = sinks.find(({ isDefault }) => isDefault) ?? null;",
    "",
  ].join("\n");
}
