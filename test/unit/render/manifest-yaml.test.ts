import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../../src/contract/json.ts";
import { manifestYaml, schemaComments } from "../../../src/render/manifest-yaml.ts";
import { fullManifest } from "../../../src/schema/sample-manifest.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";

describe("a manifest as YAML", () => {
  it("has block style, and comments above the fields, also of items", () => {
    const manifest = { name: "api", ports: [{ port: 80, expose: true }, {}], env: {}, args: ["a", "1", "yes", "a: b"] };
    const comments = (tokens: readonly string[]) => (tokens.at(-1) === "port" ? "Number of the port" : null);
    expect(manifestYaml(manifest, comments)).toBe(
      [
        ...["name: api", "ports:", "  # Number of the port", "  - port: 80", "    expose: true", "  - {}", "env: {}"],
        ...["args:", "  - a", '  - "1"', '  - "yes"', '  - "a: b"', ""],
      ].join("\n"),
    );
  });

  it("explains every field within 80 columns: what it is for, its unit, its known values and its default", () => {
    for (const type of manifestTypes) {
      const manifest = fullManifest(type);
      const text = manifestYaml(manifest, schemaComments(schemaFor(type) ?? {}, manifest));
      expect(parse(text), type).toEqual(manifest);
      const wide = text.split("\n").filter((line) => line.trimStart().startsWith("#") && line.length > 80);
      expect(wide, type).toEqual([]);
    }
    const service = fullManifest("service");
    const text = manifestYaml(service, schemaComments(schemaFor("service") ?? {}, service));
    expect(text).toContain("  # Memory that is set aside. Unit: MB\n  memory_request: 512\n");
    expect(text).toContain('    # Transport protocol. Known: TCP, UDP. Default: "TCP"\n    protocol: TCP\n');
  });

  it("is read as what it was made of, whatever that is", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[-\w:#.~ !&*'"\n]{0,12}$/));
    const { object } = fc.letrec((tie) => ({
      value: fc.oneof(text, fc.boolean(), fc.constant(null), fc.integer(), tie("object"), fc.array(tie("value"))),
      object: fc.dictionary(text, tie("value"), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(object, (manifest) => {
        expect(parse(manifestYaml(manifest as JsonObject), { schema: "core" })).toEqual(manifest);
      }),
      { numRuns: 500 },
    );
  });
});
