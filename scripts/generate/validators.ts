import { _, Ajv2020, type AnySchemaObject, type KeywordCxt } from "ajv/dist/2020.js";
import standaloneModule from "ajv/dist/standalone/index.js";
import { build } from "esbuild";
import type { SchemaNode } from "../../src/schema/schema-node.ts";
import { APPLICATION, type Schemas, typeNames } from "./schemas.ts";

const CONSTRAINTS = new Set([
  ...["$schema", "$id", "$ref", "$defs", "type", "const", "enum", "required", "properties", "patternProperties"],
  ...["additionalProperties", "propertyNames", "maxProperties", "items", "minItems", "maxItems", "allOf", "if", "then"],
  ...["minLength", "maxLength", "pattern", "minimum", "exclusiveMinimum", "maximum", "x-known"],
]);
const NAMED = new Set(["properties", "patternProperties", "$defs"]);

const DECLARATION = `/** A fault as ajv words it. */
export type ValidatorError = {
  readonly instancePath: string;
  readonly keyword: string;
  /** The field whose name is refused, where it is the name that is wrong. */
  readonly propertyName?: string;
  readonly params: { readonly [name: string]: unknown };
};

/** Checks a value; the faults of the last call are on the function itself. */
export type Validator = { (value: unknown): boolean; errors?: readonly ValidatorError[] | null };

/** One validator for each type of manifest and \`config\` for the configuration. */
export const validators: { readonly [name: string]: Validator };
`;

/** Source texts of the compiled validators and of their types. */
export async function validatorTexts(schemas: Schemas): Promise<{ readonly js: string; readonly dts: string }> {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    messages: false,
    inlineRefs: false,
    allowUnionTypes: true,
    allowMatchingProperties: true,
    code: { source: true, esm: true, lines: false, optimize: 2 },
  });
  ajv.addKeyword({
    keyword: "x-known",
    type: "string",
    schemaType: "array",
    code: failUnlessKnown,
  });
  const names = named(schemas);
  for (const schema of [...schemas.files.shared.flatMap(partsOf), ...names.map(([, one]) => one)]) {
    ajv.addSchema(constraints(schema) as AnySchemaObject);
  }
  const standalone = standaloneModule.default(ajv, Object.fromEntries(names.map(([, { $id }], at) => [`v${at}`, $id])));
  const table = names.flatMap(([name, schema], at) =>
    typeNames(name, schema).map((alias) => `${JSON.stringify(alias)}: v${at}`),
  );
  // Where a fault's schema is gets found by walking beside the value; the paths would be a fifth of the text.
  const code = standalone.replaceAll(/schemaPath:"[^"]*",/g, "").replaceAll("export const v", "const v");
  return { js: await bundle(`${code}\nexport const validators = {${table.join(", ")}};`), dts: DECLARATION };
}

const SHARED = "https://holdfast.dev/schemas/shared/";
const PART = "#/$defs/";

// The parts that schemas share stay references here. Each is a schema of its own: only so it is compiled once.
function named({ files, config, application }: Schemas): readonly (readonly [string, SchemaNode & { $id: string }])[] {
  const whole = files.shared.find(({ $id }) => $id === application.$id) ?? application;
  return [...files.kinds, ["config", config] as const, [APPLICATION, { ...whole, $id: APPLICATION }] as const].map(
    ([name, schema]) => {
      const $id = schema.$id ?? name;
      return [name, { ...referring(schema, name === APPLICATION ? application.$id : undefined), $id }] as const;
    },
  );
}

function partsOf({ $id = "", $defs = {} }: SchemaNode): readonly SchemaNode[] {
  return Object.entries($defs).map(([name, part]) => ({ ...referring(part, $id), $id: `${$id}/${name}` }));
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

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: "js" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    treeShaking: true,
    legalComments: "none",
    write: false,
  });
  const text = outputFiles[0]?.text ?? "";
  if (/[^']\brequire\(/.test(text)) throw new Error("the bundled validators still call require");
  return text;
}
