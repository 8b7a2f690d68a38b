import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { conceptText } from "./generate/concept.ts";
import { kindsText } from "./generate/kinds.ts";
import { referenceText } from "./generate/reference.ts";
import { resourcesText } from "./generate/resources.ts";
import { rulesText } from "./generate/rules.ts";
import { readSchemas, schemasText } from "./generate/schemas.ts";
import { shapesText } from "./generate/shapes.ts";
import { sinksText } from "./generate/sinks.ts";
import { configTypesText, manifestTypesText } from "./generate/types.ts";
import { validatorTexts } from "./generate/validators.ts";

const root = join(import.meta.dirname, "..");

const stale = [...(await generated())].filter(([path, text]) => !isCurrent(path, text));
if (process.argv.includes("--check")) {
  for (const [path] of stale) console.error(`${path} is stale: run \`npm run generate\` and commit the result`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const [path, text] of stale) write(path, text);
  console.log(
    stale.length === 0 ? "everything generated is current" : `wrote ${stale.map(([path]) => path).join(", ")}`,
  );
}

async function generated(): Promise<ReadonlyMap<string, string>> {
  const schemas = readSchemas(root);
  const validators = await validatorTexts(schemas);
  return new Map([
    ["src/contract/generated/manifests.ts", await manifestTypesText(schemas)],
    ["src/contract/generated/config.ts", await configTypesText(schemas)],
    ["src/contract/generated/shapes.ts", shapesText(schemas)],
    ["src/schema/generated/validators.js", validators.js],
    ["src/schema/generated/validators.d.ts", validators.dts],
    ["src/schema/generated/schemas.ts", schemasText(schemas)],
    ["src/schema/rules/index.ts", rulesText(root)],
    ["src/kinds/index.ts", kindsText(root)],
    ["src/engine/sinks/index.ts", sinksText(root)],
    ["src/server/resources/index.ts", resourcesText(root)],
    ["docs/schemas.md", referenceText(schemas)],
    ["docs/concept.svg", conceptText()],
  ]);
}

function isCurrent(path: string, text: string): boolean {
  const file = join(root, path);
  return existsSync(file) && readFileSync(file, "utf8") === text;
}

function write(path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
