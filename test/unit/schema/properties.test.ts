import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import { checkSemantics } from "../../../src/schema/check-semantics.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";
import { checkApplication, validateConfig, validateManifest } from "../../../src/schema/validate.ts";
import { manifest } from "./valid.ts";

const anything = fc.jsonValue({ maxDepth: 5 }) as fc.Arbitrary<Json>;
const type = fc.constantFrom(...manifestTypes);

function withField(name: string, fields: readonly string[], pick: number, value: Json): JsonObject {
  const field = fields[pick % Math.max(fields.length, 1)] ?? "name";
  return manifest(name, { [field]: value });
}

describe("whatever the input", () => {
  it("validation ends in a bounded list of faults, each at a place and without a value", () => {
    fc.assert(
      fc.property(type, fc.nat(), anything, (name, pick, value) => {
        const fields = Object.keys(schemaFor(name)?.properties ?? {});
        const given = withField(name, fields, pick, value);
        const found = [
          ...validateManifest(name, given),
          ...checkSemantics(name, given, { now: new Date(0), cluster: given }),
        ];
        expect(found.length).toBeLessThanOrEqual(200);
        for (const { pointer, message } of found) {
          expect(pointer === "" || pointer.startsWith("/")).toBe(true);
          expect(message).not.toMatch(/undefined|NaN|\[object|\p{Cc}/u);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("validation of documents that are nothing like manifests ends too", () => {
    fc.assert(
      fc.property(type, anything, (name, value) => {
        for (const found of [validateManifest(name, value), checkApplication(value).faults, validateConfig(value)]) {
          expect(found.length).toBeLessThanOrEqual(100);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("validation says the same thing twice", () => {
    fc.assert(
      fc.property(type, anything, (name, value) => {
        expect(validateManifest(name, value)).toEqual(validateManifest(name, value));
      }),
      { numRuns: 100 },
    );
  });
});
