import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonical, isObject, type Json, type JsonObject } from "../../../src/contract/json.ts";
import { inFieldOrder, sortFields } from "../../../src/schema/field-order.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";

/** What a manifest looks like with its order, which `toEqual` passes over. */
const written = (type: string, manifest: JsonObject): string => JSON.stringify(inFieldOrder(type, manifest));

function shuffled(value: Json, places: Iterator<number>): Json {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, places));
  if (!isObject(value)) return value;
  const fields = Object.entries(value).map(([name, field = null]) => [places.next().value, name, field] as const);
  const mixed = fields.toSorted(([a], [b]) => a - b);
  return Object.fromEntries(mixed.map(([, name, field]) => [name, shuffled(field, places)]));
}

describe("the canonical order of a manifest", () => {
  it("is that of the schema, in variants and in items of lists too", () => {
    const service = {
      replicas: 2,
      ports: [{ expose: true, port: 80 }],
      image: { image_uri: "registry.example.com/ranker:1", type: "image" },
      name: "ranker",
      type: "service",
    };
    expect(written("service", service)).toBe(
      JSON.stringify({
        type: "service",
        name: "ranker",
        image: { type: "image", image_uri: "registry.example.com/ranker:1" },
        ports: [{ port: 80, expose: true }],
        replicas: 2,
      }),
    );
    expect(written("sso-team", { name: "ml", type: "sso-team" })).toBe('{"type":"sso-team","name":"ml"}');
  });

  it("puts fields that the schema lacks last, and keeps the order of what is free", () => {
    const service = { zone: 1, area: { b: 1, a: 2 }, env: { B: "1", A: "2" }, type: "service" };
    expect(written("service", service)).toBe(
      '{"type":"service","env":{"B":"1","A":"2"},"zone":1,"area":{"b":1,"a":2}}',
    );
  });

  it("leaves a manifest of an unknown type as it is", () => {
    expect(written("servce", { name: "ranker", type: "servce" })).toBe('{"name":"ranker","type":"servce"}');
  });

  it("is the same whatever order the fields had, and changes no content", () => {
    // What these two contain is free.
    const types = manifestTypes.filter((type) => !["application-set", "workflow"].includes(type));
    const examples = types.flatMap((type) =>
      (schemaFor(type)?.examples ?? []).map((example) => ({ ...(example as JsonObject), type })),
    );
    fc.assert(
      fc.property(fc.constantFrom(...examples), fc.infiniteStream(fc.nat()), (manifest, places) => {
        const mixed = shuffled(manifest, places) as JsonObject;
        expect(written(manifest.type, mixed)).toBe(written(manifest.type, manifest));
        expect(canonical(inFieldOrder(manifest.type, mixed))).toBe(canonical(manifest));
      }),
      { numRuns: 200 },
    );
  });

  it("sorts names as if they were no properties of every object", () => {
    expect(sortFields(["constructor", "name"], (name) => name, ["name"])).toEqual(["name", "constructor"]);
  });
});
