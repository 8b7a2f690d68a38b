import { expect, test } from "vitest";
import { openApiDocument } from "../../../scripts/generate/openapi/document.ts";
import { portableSchemas } from "../../../scripts/generate/openapi/portable-schemas.ts";
import { isObject } from "../../../src/contract/json.ts";
import { refTo, type Schema } from "../../../src/server/openapi/json-schema.ts";

const document = openApiDocument({ documentedOnly: false, unknownFields: "refuse" });

/** Every schema in the document that has one of these types, with the place where it stands. */
function* typed(value: unknown, at: string): Generator<readonly [at: string, schema: Schema]> {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* typed(item, `${at}/${index}`);
  if (!isObject(value)) return;
  if (typeof value.type === "string" || Array.isArray(value.type)) yield [at, value as Schema];
  for (const [name, inner] of Object.entries(value)) {
    if (!["example", "examples", "default", "const", "enum"].includes(name)) yield* typed(inner, `${at}/${name}`);
  }
}

const all = [...typed(document.paths, "/paths"), ...typed(document.components, "/components")];
const placesOf = (isMeant: (schema: Schema) => boolean) => all.filter(([, one]) => isMeant(one)).map(([at]) => at);
const isOf = ({ type }: Schema, wanted: string) => type === wanted || (Array.isArray(type) && type.includes(wanted));

test("every list of the document says what is in it", () => {
  expect(all.length).toBeGreaterThan(500);
  expect(placesOf((one) => isOf(one, "array") && one.items === undefined)).toEqual([]);
});

test("every object of the document without fields of its own is open", () => {
  const isSilent = ({ properties, additionalProperties, oneOf }: Schema) =>
    properties === undefined && additionalProperties === undefined && oneOf === undefined;
  expect(placesOf((one) => isOf(one, "object") && isSilent(one))).toEqual([]);
});

test("the document describes variants by a discriminator, and never by if and then", () => {
  expect(JSON.stringify(document)).not.toContain('"if":{');
  expect(document.components.schemas.TeamManifest).toMatchObject({
    oneOf: [{ $ref: refTo("TeamTeam") }, { $ref: refTo("TeamSsoTeam") }],
    discriminator: { propertyName: "type", mapping: { team: refTo("TeamTeam"), "sso-team": refTo("TeamSsoTeam") } },
  });
});

test("unknown variants and null are alternatives to the known variants", () => {
  const form = (value: string): Schema => ({
    if: { type: "object", properties: { type: { const: value } }, required: ["type"] },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
    then: { $ref: refTo("Form") },
  });
  const given: Schema = {
    title: "Source",
    type: ["object", "null"],
    required: ["type"],
    properties: { type: { type: "string", "x-known": ["git"] } },
    allOf: [form("git")],
  };
  expect(portableSchemas({ Source: given }).Source).toMatchObject({
    title: "Source",
    anyOf: [
      { oneOf: [{ $ref: refTo("Form") }], discriminator: { propertyName: "type", mapping: { git: refTo("Form") } } },
      { properties: { type: { type: "string", not: { enum: ["git"] } } }, additionalProperties: true },
      { type: "null" },
    ],
  });
});

test("the document names a contact and a licence", () => {
  expect(document.info).toMatchObject({ contact: { name: expect.any(String) }, license: { name: "Apache-2.0" } });
});
