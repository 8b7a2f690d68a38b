import { describe, expect, it } from "vitest";
import { explainReport, explainText } from "../../../src/render/explain.ts";
import { explainField } from "../../../src/schema/explain-field.ts";
import { schemaFields } from "../../../src/schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../../../src/schema/schemas.ts";
import { faultsOf } from "../../support/output-schemas.ts";

const schemaOf = (kind: string) => schemaFor(kind) ?? {};

/** What is explained at a path, or what is said of a path that leads nowhere. */
const explain = (kind: string, path: string) => {
  const found = explainField(schemaOf(kind), path);
  return found.is === "unknown" ? found : { ...found, text: explainText({ kind, path, fields: found.fields }, 80) };
};

describe.each([...manifestTypes, "config"])("the explanation of %s", (kind) => {
  it("has every field of the schema, with its description, unit and known values, within 80 columns", () => {
    const fields = schemaFields(schemaOf(kind));
    expect(fields.length).toBeGreaterThan(3);
    for (const { path, node } of fields) {
      for (const written of [path, path.replaceAll("[]", "")]) {
        const found = explainField(schemaOf(kind), written);
        if (found.is === "unknown") throw new Error(`${kind}.${written} is not explained`);
        expect(
          found.fields.map((one) => one.node),
          written,
        ).toContainEqual(node);
        const explained = { kind, path: written, fields: found.fields };
        const text = explainText(explained, 80);
        const words = text.replaceAll(/\s+/g, " ");
        for (const part of [node.description, node["x-unit"], node["x-form"], node["x-known"]?.join(", ")])
          expect(words, written).toContain(part ?? "");
        // An example stands as it is written, and a path is one word.
        const lines = text.replace(/^ {2}Example:\n(?: {4}.*\n)*/m, "").split("\n");
        expect(lines.filter((line) => line.length > 80 && line.trim().includes(" "))).toEqual([]);
        expect(faultsOf("explain", JSON.stringify(explainReport(explained, []))), written).toEqual([]);
      }
    }
  });
});

describe("the explanation of a field", () => {
  it("is its type, unit, default, limits, values and example", () => {
    expect(explain("service", "resources.memory_request")).toMatchObject({
      text: [
        "service.resources.memory_request <number>",
        "  Memory that is set aside.",
        "  Unit: MB",
        "  Limits: 0 to 107374182400",
        "  Example:",
        "    memory_request: 512",
        "",
      ].join("\n"),
    });
    expect(explain("service", "ports.protocol")).toMatchObject({
      text: expect.stringContaining('  Default: "TCP"\n  Limits: 1 to 16 characters\n  Known values: TCP, UDP\n'),
    });
  });

  it("lists the fields below and the forms, of which a path may choose one", () => {
    const image = explain("service", "image");
    expect(image).toMatchObject({
      text: expect.stringContaining("\n  Form build:\n    An image that the platform builds.\n"),
    });
    expect(explain("service", "image(build)")).toMatchObject({
      fields: [
        {
          path: "image(build)",
          fields: [{ path: "docker_registry" }, { path: "build_source" }, { path: "build_spec" }],
        },
      ],
    });
    expect(explain("service", "mounts(secret).secret_fqn")).toMatchObject({
      fields: [{ path: "mounts(secret).secret_fqn" }],
    });
  });

  it("explains a path once for each meaning that it has in different forms", () => {
    expect(explain("service", "image.docker_registry")).toMatchObject({
      fields: [{ path: "image(build).docker_registry" }, { path: "image(image).docker_registry" }],
    });
    expect(explain("service", "mounts.mount_path")).toMatchObject({
      fields: [{ path: "mounts[](secret).mount_path" }],
    });
  });

  it("says what a wrong path may mean: a field of almost that name, or of that name elsewhere", () => {
    const unknown = (path: string) => explain("service", path);
    expect(unknown("image.build_spce")).toMatchObject({ name: "build_spce", near: ["image.build_spec"] });
    expect(unknown("memory_request")).toMatchObject({ near: ["resources.memory_request"] });
    expect(unknown("replicas.size")).toMatchObject({ near: [], names: expect.arrayContaining(["min_replicas"]) });
    expect(unknown("image(bulid)")).toMatchObject({ is: "unknown", name: "image(bulid)" });
    for (const path of ["constructor", "__proto__", "name.first", "image..type", "[", "("])
      expect(unknown(path), path).toMatchObject({ is: "unknown" });
  });
});
