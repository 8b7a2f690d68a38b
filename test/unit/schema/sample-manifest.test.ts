import { describe, expect, it } from "vitest";
import { isObject, type Json } from "../../../src/contract/json.ts";
import { checkSemantics } from "../../../src/schema/check-semantics.ts";
import { fullManifest, minimalManifest } from "../../../src/schema/sample-manifest.ts";
import { schemaFields, unionVariants } from "../../../src/schema/schema-node.ts";
import { manifestTypes, requiredFields, schemaFor } from "../../../src/schema/schemas.ts";
import { validateManifest } from "../../../src/schema/validate.ts";

/** More than the choices of any kind: an asynchronous service has the most. */
const FORMS = 100;

function* pathsIn(value: Json, at = ""): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* pathsIn(item, `${at}[]`);
  if (!isObject(value)) return;
  for (const [name, field = null] of Object.entries(value)) {
    const path = at === "" ? name : `${at}.${name}`;
    yield path;
    yield* pathsIn(field, path);
  }
}

const faultsOf = (type: string, manifest: Json) => [
  ...validateManifest(type, manifest),
  ...checkSemantics(type, manifest),
];

/** The fields of a type; of a schema for two types, those of this one. */
function fieldsOf(type: string): readonly string[] {
  const schema = schemaFor(type) ?? {};
  const own = unionVariants(schema, schema).find((one) => one.type === type)?.node ?? schema;
  return schemaFields({ ...own, $defs: schema.$defs ?? {} }).map(({ path }) => path);
}

describe.each(manifestTypes)("the sample manifests of %s", (type) => {
  it("are valid: the minimal one, and the complete one without a warning", () => {
    expect(faultsOf(type, minimalManifest(type))).toEqual([]);
    expect(faultsOf(type, fullManifest(type))).toEqual([]);
    expect(Object.keys(minimalManifest(type))).toEqual(expect.arrayContaining([...requiredFields(type)]));
    expect(minimalManifest(type).type).toBe(type);
  });

  it("have every field of the schema at its first level, and in one form or another every field below", () => {
    const fields = fieldsOf(type);
    const first = fields.filter((path) => /^\w+$/.test(path));
    expect(Object.keys(fullManifest(type))).toEqual(expect.arrayContaining(first));
    const found = new Set<string>();
    for (let form = 0; form < FORMS; form += 1) {
      const manifest = fullManifest(type, form);
      const errors = faultsOf(type, manifest).filter(({ severity }) => severity === "error");
      expect(errors, `form ${form}`).toEqual([]);
      for (const path of pathsIn(manifest)) found.add(path);
    }
    expect(fields.filter((path) => !found.has(path))).toEqual([]);
    expect(fields.length).toBeGreaterThan(1);
  });
});
