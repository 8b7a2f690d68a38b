import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { editorSchemaFor, manifestEditorSchema } from "../../../src/schema/editor-schema.ts";
import type { SchemaNode } from "../../../src/schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";
import { least } from "./valid.ts";

const compile = (schema: SchemaNode | undefined) => {
  if (schema === undefined) throw new Error("no such schema");
  return new Ajv({ strict: true, allowUnionTypes: true, allowMatchingProperties: true, strictRequired: false }).compile(
    schema,
  );
};
const examples = readdirSync("examples/manifests", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".yaml"))
  .flatMap((file) => parseAllDocuments(readFileSync(join("examples/manifests", file), "utf8")))
  .map((document) => document.toJS());

describe("the schema of manifests for editors", () => {
  const validate = compile(manifestEditorSchema());

  it("is one document of draft 7 with an identifier that names no host", () => {
    const { $schema, $id } = manifestEditorSchema();
    expect({ $schema, $id }).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "urn:holdfast:schema:manifest",
    });
    expect(JSON.stringify(manifestEditorSchema())).not.toMatch(
      /holdfast\.dev|"x-(?:known|unit|form|key|set|free)":|"_config":/,
    );
  });

  it("accepts every example", () => {
    expect(examples.length).toBeGreaterThan(50);
    for (const example of examples) expect([validate(example), validate.errors], example.name).toEqual([true, null]);
  });

  it("accepts the least manifest of each type, and the examples of each schema", () => {
    for (const manifest of Object.values(least)) expect(validate(manifest), String(manifest.type)).toBe(true);
    for (const type of manifestTypes) {
      for (const example of schemaFor(type)?.examples ?? []) expect(validate(example), type).toBe(true);
    }
  });

  it("refuses an unknown field, a wrong type and a missing field of every type", () => {
    for (const type of manifestTypes) {
      const [example] = schemaFor(type)?.examples ?? [];
      const manifest = { ...(example as object), type };
      // What single sign-on knows of a team is carried, whatever it is.
      expect(validate({ ...manifest, no_such_field: 1 }), type).toBe(type === "sso-team");
      expect(validate({ ...manifest, name: 7 }), type).toBe(false);
    }
    expect(validate({ type: "service", name: "ranker" })).toBe(false);
    expect(validate({ type: "servce", name: "ranker" })).toBe(false);
    expect(validate({ name: "ranker" })).toBe(false);
  });

  it("requires no workspace, which a default may supply", () => {
    const { workspace_fqn: _, ...manifest } = least.service ?? {};
    expect(validate(manifest)).toBe(true);
  });

  it("offers the known values of a field and allows others, and says the unit", () => {
    const { node } = schemaFor("service")?.$defs?.resources?.properties ?? {};
    expect(node?.properties?.type?.["x-known"]).toEqual(["node_selector", "nodepool_selector"]);
    const part = JSON.stringify(manifestEditorSchema().$defs?._shared_application);
    expect(part).toContain('"anyOf":[{"enum":["node_selector","nodepool_selector"]},{}]');
    expect(part).toContain('"description":"Memory that is set aside. Unit: MB"');
  });
});

describe("the schema of one type for editors", () => {
  it("describes every type, and no other name", () => {
    for (const type of manifestTypes) {
      const schema = editorSchemaFor(type);
      expect(schema?.$id).toBe(`urn:holdfast:schema:${type}`);
      const validate = compile(schema);
      for (const example of schemaFor(type)?.examples ?? []) expect(validate(example), type).toBe(true);
    }
    for (const name of ["servce", "_config", "_shared_application", "constructor", ""])
      expect(editorSchemaFor(name)).toBeUndefined();
  });

  it("has only the parts that the type refers to", () => {
    expect(Object.keys(editorSchemaFor("team")?.$defs ?? {})).toEqual(["team"]);
    expect(Object.keys(editorSchemaFor("workspace")?.$defs ?? {})).toEqual(["_shared_grants", "workspace"]);
  });

  it("describes the configuration", () => {
    const validate = compile(editorSchemaFor("config"));
    expect(validate({ paths: ["manifests"] })).toBe(true);
    expect(validate({ pahts: ["manifests"] })).toBe(false);
  });
});
