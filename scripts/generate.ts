import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { dashboardPage, referenceAssets } from "./build/dashboard-page.ts";
import { conceptText } from "./generate/concept.ts";
import { editorSchemasText } from "./generate/editor-schemas.ts";
import { fieldReferenceText } from "./generate/field-reference.ts";
import { helmTexts } from "./generate/helm.ts";
import { kindsText, resourcesText, rulesText, sinksText } from "./generate/index-files.ts";
import { kubernetesTexts } from "./generate/kubernetes.ts";
import { configTypesText, manifestTypesText } from "./generate/manifest-types.ts";
import { outputTypesText } from "./generate/output-types.ts";
import { pipelinesText } from "./generate/pipelines.ts";
import { replyTypesText } from "./generate/reply-types.ts";
import { readSchemas, type Schemas, schemaTexts, typesText } from "./generate/schemas.ts";
import { shapesText } from "./generate/shapes.ts";
import { validatorTexts } from "./generate/validators.ts";

const root = join(import.meta.dirname, "..");

const schemas = readSchemas(root);
// No part of the repository: `npm ci` makes them, and so does a check.
const compiledNow = await compiledTexts(schemas);
const compiled = writeStale(compiledNow);
// What is newer than the schemas is not made again before the next test.
const now = new Date();
for (const [path] of compiledNow) utimesSync(join(root, path), now, now);
const stale = staleOf(await committedTexts(schemas));
if (process.argv.includes("--check")) {
  for (const [path] of stale) console.error(`${path} is stale: run \`npm run generate\` and commit the result`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  tellWritten([...compiled, ...writeStale(stale)]);
}
// Last, since it is made by sources that read what is generated above.
tellWritten(writeStale(await referenceTexts()));

function tellWritten(paths: readonly string[]): void {
  if (paths.length > 0) console.log(`wrote ${paths.join(", ")}`);
}

type Texts = Iterable<readonly [path: string, text: string]>;

async function compiledTexts(schemas: Schemas): Promise<Texts> {
  const validators = await validatorTexts(schemas);
  return [
    ...[...validators].map(([file, text]) => [`src/schema/generated/validators/${file}.cjs`, text] as const),
    ...schemaTexts(schemas).map(([file, text]) => [`src/schema/generated/schemas/${file}.json`, text] as const),
    ["src/schema/generated/schemas/_editor.json", editorSchemasText(schemas)],
    ["src/commands/generated/pipelines.json", pipelinesText(root)],
    ["src/schema/generated/types.ts", typesText(schemas)],
    ["src/contract/generated/manifests.ts", await manifestTypesText(schemas)],
    ["src/contract/generated/resources.ts", await replyTypesText(root)],
  ];
}

async function referenceTexts(): Promise<Texts> {
  const { referenceForms } = await import("./generate/reference.ts");
  const { dashboardOpenApi } = await import("./generate/dashboard-openapi.ts");
  const { page } = await dashboardPage(root);
  return [
    ["src/daemon/api/generated/dashboard/page.json", `${JSON.stringify(page)}\n`],
    ...referenceForms(await referenceAssets(root)).map(
      ([file, text]) => [`src/server/generated/reference/${file}`, text] as const,
    ),
    ["src/daemon/api/generated/dashboard/openapi.json", `${JSON.stringify(dashboardOpenApi(root))}\n`],
  ];
}

async function committedTexts(schemas: Schemas): Promise<Texts> {
  // These read what is generated above.
  const { fullManifest, minimalManifest } = await import("../src/schema/sample-manifest.ts");
  const { manifestYaml } = await import("../src/render/manifest-yaml.ts");
  const examplesOf = (type: string) => {
    return { minimal: manifestYaml(minimalManifest(type)), full: manifestYaml(fullManifest(type)) };
  };
  return [
    ["src/contract/generated/config.ts", await configTypesText(schemas)],
    ["src/contract/generated/shapes.ts", shapesText(schemas)],
    ["src/contract/generated/output.ts", await outputTypesText(root)],
    ["src/schema/rules/index.ts", rulesText(root)],
    ["src/kinds/index.ts", kindsText(root)],
    ["src/engine/sinks/index.ts", sinksText(root)],
    ["src/server/resources/index.ts", resourcesText(root)],
    ["docs/schemas.md", fieldReferenceText(schemas, examplesOf)],
    ["docs/concept.svg", conceptText()],
    ...kubernetesTexts(),
    ...helmTexts(JSON.parse(readFileSync(join(root, "package.json"), "utf8"))),
  ];
}

function staleOf(texts: Texts): readonly (readonly [path: string, text: string])[] {
  return [...texts].filter(([path, text]) => !isCurrent(path, text));
}

function writeStale(texts: Texts): readonly string[] {
  return staleOf(texts).map(([path, text]) => {
    write(path, text);
    return path;
  });
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
