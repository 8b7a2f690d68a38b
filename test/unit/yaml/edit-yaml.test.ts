import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { isObject, type Json, type JsonObject } from "../../../src/contract/json.ts";
import { editYaml } from "../../../src/yaml/edit-yaml.ts";
import { yamlText } from "../../../src/yaml/write-yaml.ts";
import { runs, timeout } from "./texts.ts";

const commented = `# The api.
type: service   # a kind
name: 'api'

replicas:   2   # raised for the launch
env:
  # where it runs
  REGION: "eu"
  MODE: fast # quick
  LAST: z
  # nothing after this

ports:
  - port: 80
    host: a.example.com   # public
  # the second one
  - { port: 81, expose: true }
command: [python, "-m", app]
description: |
  Two
  lines
# the end
`;

const valueIn = (text: string): JsonObject => parseDocument(text).toJS();

type Change = readonly [path: readonly (string | number)[], value: Json | undefined];

/** The value with another one at a path; undefined leaves it out. */
function withChange(at: Json, [[step, ...rest], value]: Change): Json {
  if (step === undefined) return value ?? null;
  if (Array.isArray(at))
    return at.map((item: Json, index) => (index === step ? withChange(item, [rest, value]) : item));
  const fields = isObject(at) ? at : {};
  if (rest.length > 0 || value !== undefined)
    return { ...fields, [step]: withChange(fields[step] ?? null, [rest, value]) };
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== step));
}

function edited(text: string, ...changes: readonly Change[]): string | null {
  const before = valueIn(text);
  return editYaml(text, before, changes.reduce<Json>(withChange, before) as JsonObject);
}

/** The lines that differ, the old ones first. */
function changed(text: string, change: Change): readonly string[] {
  const [old, now] = [text.split("\n"), (edited(text, change) ?? "null").split("\n")];
  const kept = new Set(old.filter((line) => now.includes(line)));
  const differing = (lines: readonly string[], sign: string) =>
    lines.filter((line) => !kept.has(line)).map((line) => sign + line);
  return [...differing(old, "-"), ...differing(now, "+")];
}

const PORTS = (valueIn(commented).ports ?? []) as readonly Json[];

describe("a document is edited in place", () => {
  test.each<[string, Change, readonly string[]]>([
    [
      "a number",
      [["replicas"], 3],
      ["-replicas:   2   # raised for the launch", "+replicas:   3   # raised for the launch"],
    ],
    ["a text in single quotes", [["name"], "it's"], ["-name: 'api'", "+name: 'it''s'"]],
    ["a text in double quotes", [["env", "REGION"], "us"], ['-  REGION: "eu"', '+  REGION: "us"']],
    ["a plain text that needs quotes", [["env", "MODE"], "no"], ["-  MODE: fast # quick", '+  MODE: "no" # quick']],
    ["a new field, beside the last", [["env", "NEW"], "1"], ['+  NEW: "1"']],
    ["a field that goes, its comment stays", [["env", "REGION"], undefined], ['-  REGION: "eu"']],
    ["the last field of an object that goes", [["env", "LAST"], undefined], ["-  LAST: z"]],
    [
      "the first field of an item that goes",
      [["ports", 0, "port"], undefined],
      ["-  - port: 80", "-    host: a.example.com   # public", "+  - host: a.example.com   # public"],
    ],
    [
      "a field of an item",
      [["ports", 0, "host"], "b"],
      ["-    host: a.example.com   # public", "+    host: b   # public"],
    ],
    [
      "a field of a flow object",
      [["ports", 1, "expose"], false],
      ["-  - { port: 81, expose: true }", "+  - { port: 81, expose: false }"],
    ],
    [
      "a new field of a flow object",
      [["ports", 1, "path"], "/x"],
      ["-  - { port: 81, expose: true }", '+  - { port: 81, expose: true, "path": "/x" }'],
    ],
    [
      "a field of a flow object that goes",
      [["ports", 1, "port"], undefined],
      ["-  - { port: 81, expose: true }", "+  - { expose: true }"],
    ],
    ["an item that goes", [["ports"], PORTS.slice(1)], ["-  - port: 80", "-    host: a.example.com   # public"]],
    [
      "a new item",
      [["ports"], [...PORTS, { port: 82, auth: { a: "b" } }]],
      ["+  - port: 82", "+    auth:", "+      a: b"],
    ],
    ["a new first item", [["ports"], [{ port: 79 }, ...PORTS]], ["+  - port: 79"]],
    [
      "items of a flow list",
      [["command"], ["python", "app", "-v"]],
      ['-command: [python, "-m", app]', '+command: [python, app, "-v"]'],
    ],
    ["a block text", [["description"], "Two\nother\n"], ["-  lines", "+  other"]],
    [
      "a block text to a short one",
      [["description"], "short"],
      ["-description: |", "-  Two", "-  lines", "+description: short"],
    ],
    ["a new object", [["labels"], { a: "b" }], ["+labels:", "+  a: b"]],
    [
      "an object that becomes empty",
      [["env"], {}],
      ["-env:", "-  # where it runs", '-  REGION: "eu"', "-  MODE: fast # quick", "-  LAST: z", "+env: {}"],
    ],
    ["a list that becomes a text", [["command"], "python"], ['-command: [python, "-m", app]', "+command: python"]],
  ])("%s", (_, change, lines) => {
    expect(changed(commented, change)).toEqual(lines);
  });

  test("after a document marker, without a line end, and in JSON", () => {
    expect(edited("---\n# x\na: 1\nb: 2", [["b"], 3])).toBe("---\n# x\na: 1\nb: 3");
    expect(edited("a: 1\nb: 2", [["b"], undefined])).toBe("a: 1\n");
    expect(edited('{\n  "a": 1,\n  "b": {}\n}\n', [["a"], 2], [["c"], ["x"]])).toBe(
      '{\n  "a": 2,\n  "b": {},\n  "c": ["x"]\n}\n',
    );
    expect(edited("a:\nb: 1\n", [["a"], "x"])).toBe("a: x\nb: 1\n");
  });

  test("not where anchors or aliases stand in the way, nor where the text has another value", () => {
    expect(edited("a: &x {b: 1}\nc: *x\n", [["c"], { b: 2 }])).toBeNull();
    expect(edited("a: &x 1\nc: *x\n", [["a"], 2])).toBeNull();
    expect(editYaml("a: 2\n", { a: 1 }, { a: 3 })).toBeNull();
  });

  test("with fields that only the document or only the manifest has", () => {
    const text = "$schema: x.json\na: 1\n";
    expect(editYaml(text, { a: 1, workspace: "w" }, { a: 2, workspace: "w" })).toBe("$schema: x.json\na: 2\n");
    expect(editYaml(text, { a: 1, workspace: "w" }, { a: 1, workspace: "v" })).toBe(
      `${text}workspace: v\n`.replace("\n\n", "\n"),
    );
  });

  const key = fc.constantFrom("a", "b", "c", "d e", "no");
  const leaf = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.constantFrom("x", "y z", "", "a\nb\n", "3", "# c", " ", "é", "k: v"),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
    ),
  }));
  const objects = fc.dictionary(key, value, { minKeys: 1, maxKeys: 5, noNullPrototype: true });

  test(
    "to any other value, or not at all; written by us, always",
    () => {
      fc.assert(
        fc.property(objects, objects, (before, after) => {
          const [was, is] = [
            { type: "t", ...(before as JsonObject) },
            { type: "t", ...(after as JsonObject) },
          ];
          const text = editYaml(yamlText(was), was, is);
          expect(text).not.toBeNull();
          expect(valueIn(text ?? "")).toEqual(is);
          const flow = `${JSON.stringify(was)}\n`;
          expect(valueIn(editYaml(flow, was, is) ?? "")).toEqual(is);
        }),
        runs(0.5),
      );
    },
    timeout,
  );
});
