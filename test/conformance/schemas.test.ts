import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../src/contract/json.ts";
import { kindOf, kinds } from "../../src/kinds/index.ts";
import { fullManifest, minimalManifest } from "../../src/schema/sample-manifest.ts";
import { type SchemaNode, schemaFields } from "../../src/schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../../src/schema/schemas.ts";
import { validateConfig, validateManifest } from "../../src/schema/validate.ts";
import { decidedFields, interfaceFields } from "./interface-fields.ts";
import { type PlatformForm, platformFields } from "./platform-fields.ts";

const root = join(import.meta.dirname, "..", "..");
const types = readdirSync(join(root, "schemas")).flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -5)] : []));

function platformForm(form: string): PlatformForm | undefined {
  const forms: { readonly [form: string]: PlatformForm } = {
    ...{ string: "str", number: "num", integer: "num", boolean: "bool", array: "list", object: "object" },
  };
  return forms[form];
}

function schemaOf(type: string): SchemaNode {
  const schema = schemaFor(type);
  if (schema === undefined) throw new Error(`no schema for ${type}`);
  return schema;
}

describe("the schemas", () => {
  it("are exactly those of the kinds", () => {
    expect(types.toSorted()).toEqual(kinds.map(({ type }) => type).toSorted());
    expect(manifestTypes.map((type) => kindOf(type)?.type)).not.toContain(undefined);
  });

  it("and everything made from them are current", () => {
    const run = () => execFileSync(process.execPath, ["scripts/generate.ts", "--check"], { cwd: root, stdio: "pipe" });
    expect(run).not.toThrow();
  });

  it("use no word that the generated types or validators would misread", () => {
    for (const type of [...types, "config"]) {
      const text = JSON.stringify(schemaOf(type));
      expect(text, type).not.toMatch(
        /"(?:oneOf|anyOf|unevaluatedProperties|prefixItems|not|dependentSchemas|\$data)":/,
      );
    }
  });

  it("describe shared parts in the same words everywhere", () => {
    for (const part of ["collaborator", "permission"]) {
      const texts = types.flatMap((type) => schemaOf(type).$defs?.[part] ?? []).map((node) => JSON.stringify(node));
      expect(new Set(texts).size, part).toBe(1);
    }
  });
});

it.each(kinds.flatMap(({ type, takesWorkspace }) => (takesWorkspace ? [type] : [])))(
  "schemas/%s.json, which editors follow, asks for no workspace, and a manifest without one is an error all the same",
  (type) => {
    const file = JSON.parse(readFileSync(join(root, "schemas", `${type}.json`), "utf8"));
    expect(file.required).not.toContain("workspace_fqn");
    const { workspace_fqn, ...manifest } = file.examples[0];
    expect(workspace_fqn).toBeDefined();
    expect(validateManifest(type, manifest)).toMatchObject([{ severity: "error", code: "missing-field" }]);
  },
);

it.each(types)("docs/schemas.md opens %s with a minimal and a complete example, both valid", (type) => {
  const page = readFileSync(join(root, "docs/schemas.md"), "utf8");
  const [, section = ""] = page.split(`\n## \`${type}\`\n`);
  const [above = ""] = section.split("\n| Path |");
  const examples = Array.from(above.matchAll(/^```yaml\n(.*?)^```$/gms), ([, text = ""]) => parse(text));
  expect(examples).toEqual([minimalManifest(type), fullManifest(type)]);
  for (const example of examples) expect(validateManifest(type, example)).toEqual([]);
});

describe.each(types)("schemas/%s.json", (type) => {
  const schema = schemaOf(type);
  const fields = schemaFields(schema);

  it("has its address and an example that is valid", () => {
    expect(schema.$id).toBe(`https://holdfast.dev/schemas/${type}.json`);
    expect(schema.examples?.length).toBeGreaterThan(0);
    for (const example of schema.examples ?? []) expect(validateManifest(type, example)).toEqual([]);
  });

  it("has every field of the interface, in its form", () => {
    const known = Map.groupBy(fields, ({ path }) => path);
    for (const [path, form] of Object.entries(interfaceFields[type] ?? {})) {
      const found = known.get(path) ?? [];
      expect(found.length, `${path} is missing`).toBeGreaterThan(0);
      for (const { node } of found) expect(formsOf(node), path).toContain(form);
    }
  });

  it("has every field of the platform, in its form", () => {
    const known = Map.groupBy(fields, ({ path }) => path);
    const free = fields.flatMap(({ path, node }) => (node["x-free"] || node.items?.["x-free"] ? [path] : []));
    const platform = platformFields(type);
    expect(platform.size).toBeGreaterThan(2);
    for (const [path, forms] of platform) {
      if (free.some((above) => path.startsWith(`${above}.`) || path.startsWith(`${above}[`))) continue;
      if (/^monitoring\.\w+_url$/.test(path)) continue;
      const found = (known.get(path) ?? []).flatMap(({ node }) => formsOf(node));
      for (const form of forms)
        expect(
          found.some((one) => platformForm(one) === form),
          `${path}: ${form}`,
        ).toBe(true);
    }
  });

  it("has no field but those of the interface, those of the platform and those that we decided", () => {
    const decided = new Set([
      ...Object.keys({ ...interfaceFields[type], ...decidedFields[type] }),
      ...platformFields(type).keys(),
    ]);
    expect(fields.map(({ path }) => path).filter((path) => !decided.has(path.replace("metrics[]", "metrics")))).toEqual(
      [],
    );
    const present = new Set(fields.map(({ path }) => path));
    expect(Object.keys(decidedFields[type] ?? {}).filter((path) => !present.has(path))).toEqual([]);
  });

  it("gives every field a title, a description and an example", () => {
    for (const { path, node } of fields) {
      expect(node.title, path).toMatch(/^\p{Lu}|^pip/u);
      expect(node.description?.length, path).toBeGreaterThan(8);
      expect(node.examples?.length, path).toBeGreaterThan(0);
    }
  });

  it("gives examples that are valid where they stand", () => {
    const ajv = new Ajv2020({ strict: false });
    for (const { path, node } of fields) {
      const valid = ajv.compile({ ...node, $defs: schema.$defs });
      for (const example of node.examples ?? [])
        expect(valid(example), `${path}: ${JSON.stringify(example)}`).toBe(true);
    }
  });

  it("gives every quantity its unit", () => {
    const countless = /(?:port|version|step|top_k|temperature|attempts|priority)$/;
    for (const { path, node } of fields) {
      if (!formsOf(node).some((form) => form === "integer" || form === "number") || countless.test(path)) continue;
      expect(node["x-unit"], path).toBeDefined();
    }
  });

  it("bounds every text, list and number", () => {
    for (const { path, node } of fields) {
      const forms = formsOf(node);
      if (node.enum !== undefined || node.const !== undefined) continue;
      if (forms.includes("string")) expect(node.maxLength, path).toBeGreaterThan(0);
      if (forms.includes("array") && !node["x-free"]) expect(node.maxItems, path).toBeGreaterThan(0);
      if (forms.includes("integer") || forms.includes("number")) expect(node.maximum, path).toBeGreaterThan(0);
    }
  });

  it("takes null in every optional field for absence", () => {
    const example = schema.examples?.[0] as { readonly [name: string]: Json };
    const optional = Object.keys(schema.properties ?? {}).filter((name) => !schema.required?.includes(name));
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    expect(validateManifest(type, { ...nulls, ...example })).toEqual([]);
  });
});

describe("schemas/config/holdfast.json", () => {
  const schema = schemaOf("config");

  it("gives every key a class, a title, a description and an example that is valid", () => {
    for (const [key, node] of Object.entries(schema.properties ?? {})) {
      expect(node["x-class"], key).toMatch(/^(?:repository|operator)$/);
      expect(node.title && node.description, key).toBeTruthy();
      for (const example of node.examples ?? []) expect(validateConfig({ [key]: example }), key).toEqual([]);
    }
  });

  it("is served as it stands in its file", () => {
    expect(schema).toEqual(JSON.parse(readFileSync(join(root, "schemas/config/holdfast.json"), "utf8")));
  });
});

function formsOf(node: SchemaNode): readonly string[] {
  if (node.const !== undefined || node.enum !== undefined) return ["string"];
  return typeof node.type === "string" ? [node.type] : (node.type ?? []);
}
