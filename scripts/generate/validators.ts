import { basename } from "node:path";
import { _, Ajv2020, type AnySchemaObject, type KeywordCxt } from "ajv/dist/2020.js";
import { build } from "esbuild";
import type { SchemaNode } from "../../src/schema/schema-node.ts";
import { APPLICATION, type Schemas } from "./schemas.ts";
import { validatorModules } from "./validator-modules.ts";

const CONSTRAINTS = new Set([
  ...["$schema", "$id", "$ref", "$defs", "type", "const", "enum", "required", "properties", "patternProperties"],
  ...["additionalProperties", "propertyNames", "maxProperties", "items", "minItems", "maxItems", "allOf", "if", "then"],
  ...["minLength", "maxLength", "pattern", "minimum", "exclusiveMinimum", "maximum", "x-known"],
]);
const NAMED = new Set(["properties", "patternProperties", "$defs"]);

/** Source texts of the compiled validators by file name, one for each schema file: a command loads those that it needs. */
export async function validatorTexts(schemas: Schemas): Promise<ReadonlyMap<string, string>> {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    messages: false,
    inlineRefs: false,
    allowUnionTypes: true,
    allowMatchingProperties: true,
    code: { source: true, lines: false, optimize: 2 },
  });
  ajv.addKeyword({
    keyword: "x-known",
    type: "string",
    schemaType: "array",
    code: failUnlessKnown,
  });
  const modules = [...schemas.files.shared.map(sharedModule), ...named(schemas)];
  for (const { parts } of modules) for (const part of parts) ajv.addSchema(constraints(part) as AnySchemaObject);
  const sources = validatorModules(
    ajv,
    modules.map(({ file, parts, isKind }) => ({ file, ids: parts.map(({ $id }) => $id), isKind })),
  );
  return new Map(await Promise.all([...sources].map(async ([file, source]) => [file, await bundle(source)] as const)));
}

type Identified = SchemaNode & { readonly $id: string };

/** The schemas that are compiled into one file: those of a kind's file are one, those of a shared file its parts. */
type Module = { readonly file: string; readonly parts: readonly Identified[]; readonly isKind: boolean };

const SHARED = "https://holdfast.dev/schemas/shared/";
const PART = "#/$defs/";

// The parts that schemas share stay references here. Each is a schema of its own: only so it is compiled once.
function named({ files, config, policy, application, requests }: Schemas): readonly Module[] {
  const whole = files.shared.find(({ $id }) => $id === application.$id) ?? application;
  const others = [
    ["config", config] as const,
    ["policy", policy] as const,
    [APPLICATION, { ...whole, $id: APPLICATION }] as const,
  ];
  return [...files.kinds, ...others, ...requests].map(([name, schema]) => {
    const $id = schema.$id ?? name;
    const one = { ...referring(schema, name === APPLICATION ? application.$id : undefined), $id };
    return { file: name, parts: [one], isKind: true };
  });
}

function sharedModule({ $id = "", $defs = {} }: SchemaNode): Module {
  const parts = Object.entries($defs).map(([name, part]) => ({ ...referring(part, $id), $id: `${$id}/${name}` }));
  return { file: `shared-${basename($id, ".json")}`, parts, isKind: false };
}

// A schema without the parts that it shares, and with references to them as schemas of their own.
function referring(schema: SchemaNode, from: string | undefined): SchemaNode {
  const text = JSON.stringify(from === undefined ? schema : { ...schema, $defs: undefined });
  const outside = text.replaceAll(/"shared\/([\w-]+\.json)#\/\$defs\//g, `"${SHARED}$1/`);
  return JSON.parse(from === undefined ? outside : outside.replaceAll(`"${PART}`, `"${from}/`)) as SchemaNode;
}

// Annotations are for people and for the other generators; left in, they would be most of the compiled text.
function constraints(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(constraints);
  if (typeof node !== "object" || node === null) return node;
  const kept = Object.entries(node).filter(([name]) => CONSTRAINTS.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, NAMED.has(name) ? mapped(value) : constraints(value)]));
}

function mapped(named: { readonly [name: string]: unknown }): unknown {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, constraints(value)]));
}

// A `*` at the start of a known value stands for anything before its rest.
function failUnlessKnown(cxt: KeywordCxt): void {
  const known: readonly string[] = cxt.schema;
  const tests = known.map((value) =>
    value.startsWith("*") ? _`${cxt.data}.endsWith(${value.slice(1)})` : _`${cxt.data} === ${value}`,
  );
  cxt.pass(tests.reduce((all, test) => _`${all} || ${test}`));
}

// The files lie in one folder and load each other when they are called, so that they may refer to each other in a circle.
async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: "js" },
    bundle: true,
    external: ["./*.cjs"],
    format: "cjs",
    platform: "node",
    target: "node24",
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    treeShaking: true,
    legalComments: "none",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
