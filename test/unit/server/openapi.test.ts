import { createConfig, lintFromString } from "@redocly/openapi-core";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "../../../scripts/generate/openapi/document.ts";
import { servedDocument } from "../../../scripts/generate/openapi/served-document.ts";
import { isDocumented, type OperationName, operation, operations } from "../../../src/contract/operations.ts";
import { STAGED_FILES, STAGED_PATH, stagedFileOperations } from "../../../src/contract/staged-files.ts";
import type { Schema } from "../../../src/server/openapi/json-schema.ts";
import { createCheck, type Route, routesOf } from "../../support/openapi.ts";
import { interfaceResources } from "./interface-resources.ts";

const names = Object.keys(operations) as OperationName[];
const whole = openApiDocument({ documentedOnly: false, unknownFields: "refuse" });

const requiredIn = ({ operation: { responses } }: Route): readonly string[] => {
  const reply = responses["200"];
  const schema = reply === undefined || "$ref" in reply ? undefined : reply.content?.["application/json"].schema;
  return schema?.required ?? [];
};

describe.each([false, true])("the document, of the documented operations alone: %s", (documentedOnly) => {
  const document = openApiDocument({ documentedOnly, unknownFields: "refuse" });

  test("passes the recommended rules of a public linter without a warning", async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "openapi.json", config });
    expect(problems.map(({ ruleId, message, location: [at] }) => [ruleId, message, at?.pointer])).toEqual([]);
  });

  test("has every operation of the table, where the table has it", () => {
    const expected = names.filter((name) => !documentedOnly || isDocumented(operation(name)));
    const found = routesOf(document).map(({ method, path, operation: { operationId } }) => [operationId, method, path]);
    expect(found.toSorted()).toEqual(
      expected.map((name) => [name, operation(name).method.toLowerCase(), operation(name).path]).toSorted(),
    );
  });

  test("has examples that its own schemas accept", () => {
    const check = createCheck(document);
    for (const { operation: row } of routesOf(document)) {
      const bodies = [row.requestBody, row.responses["200"]].flatMap((one) =>
        one === undefined || "$ref" in one || one.content === undefined ? [] : [one.content["application/json"]],
      );
      for (const { schema, example } of bodies) {
        expect([row.operationId, check(schema, example)]).toEqual([row.operationId, []]);
      }
    }
  });
});

test("the document that servers answer has the operations on files of staged versions too, and passes the same rules", async () => {
  const served = servedDocument({ documentedOnly: false, unknownFields: "refuse" });
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source: JSON.stringify(served), absoluteRef: "openapi.json", config });
  expect(problems.map(({ ruleId, message, location: [at] }) => [ruleId, message, at?.pointer])).toEqual([]);
  const { paths } = JSON.parse(JSON.stringify(served));
  for (const [operationId, { method, path, summary }] of Object.entries(stagedFileOperations))
    expect(paths[path][method.toLowerCase()]).toMatchObject({ operationId, summary, "x-number": STAGED_FILES });
  const documented = JSON.stringify(servedDocument({ documentedOnly: true, unknownFields: "refuse" }));
  expect(documented).not.toContain(STAGED_PATH);
});

test("the document marks as required what the interface marks, and lists always", () => {
  const marked = routesOf(whole).map((route) => [route, requiredIn(route)] as const);
  for (const [{ method, operation: documented }, required] of marked) {
    const number = documented["x-number"];
    const row = names.map(operation).find((one) => one.number === number && one.method === method.toUpperCase());
    if (row?.reply === "list") expect([number, required]).toEqual([number, ["data", "pagination"]]);
    // Beyond what the interface marks: every reply of one resource has it.
    if (row?.reply === "one")
      expect([number, required]).toEqual([number, ["7", "E17"].includes(number) ? ["data", "created"] : ["data"]]);
    if (row?.reply === "empty") expect([number, required]).toEqual([number, []]);
  }
  expect(schemaOf("StagedArtifact").required).toEqual(["id", "storage_root", "artifact_id"]);
  for (const number of ["16", "17", "18", "19", "20"]) {
    const route = routesOf(whole).find(({ operation: row }) => row["x-number"] === number);
    expect(route?.operation.requestBody?.content["application/json"].schema.required).toEqual(["manifest"]);
  }
});

test.each(Object.entries(interfaceResources))(
  "the document has every field of the interface's table of %s",
  (name, fields) => {
    for (const [path, type] of Object.entries(fields)) {
      const found = fieldAt(schemaOf(name), path.split("."));
      expect([path, found === undefined ? "absent" : typeAt(found)]).toEqual([path, type]);
    }
    const known = new Set(Object.keys(fields).map((path) => path.replace(/[.[].*/, "")));
    expect(Object.keys(schemaOf(name).properties ?? {}).toSorted()).toEqual([...known].toSorted());
  },
);

test("the document has the limits and defaults of lists", () => {
  expect(whole.components.parameters).toMatchObject({
    limit: { schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } },
    offset: { schema: { type: "integer", minimum: 0, default: 0 } },
  });
});

test("a server that carries unknown fields says so in its document", () => {
  const open = openApiDocument({ documentedOnly: false, unknownFields: "allow" });
  expect(open.components.schemas.ClusterManifest).not.toHaveProperty("additionalProperties", false);
  expect(whole.components.schemas.ClusterManifest).toHaveProperty("additionalProperties", false);
});

function schemaOf(name: string): Schema {
  const found = whole.components.schemas[name];
  if (found === undefined) throw new TypeError(`the document has no ${name}`);
  return found;
}

function resolve(schema: Schema): Schema {
  const chosen = schema.anyOf?.[0] ?? schema;
  if (chosen.$ref !== undefined) return resolve(schemaOf(chosen.$ref.split("/").at(-1) ?? ""));
  return chosen.anyOf === undefined ? chosen : resolve(chosen);
}

function fieldAt(schema: Schema, [step, ...rest]: readonly string[]): Schema | undefined {
  if (step === undefined) return resolve(schema);
  const field = resolve(schema).properties?.[step.replace("[]", "")];
  if (field === undefined) return undefined;
  const inner = step.endsWith("[]") ? (resolve(field).items ?? {}) : field;
  return fieldAt(inner, rest);
}

function typeAt({ type, format }: Schema): string {
  const [first = "any"] = typeof type === "string" ? [type] : (type ?? []);
  return format === "date-time" ? "timestamp" : first;
}
