import { expect, test } from "vitest";
import type { Diagnostic } from "../../../src/core/diagnostic.ts";
import { type DeclaredAt, invalidManifests } from "../../../src/core/invalid-manifest.ts";

const declared = (file: string, line: number, name: string, isRefused: boolean): DeclaredAt => {
  return { identity: `team/${name}`, kind: "team", file, line, isRefused };
};

const error = (file: string | null, line: number | null, code = "unknown-field"): Diagnostic => {
  return { severity: "error", code, summary: `${code} at ${line}`, detail: null, file, line, column: 1 };
};

const places = (...given: Parameters<typeof invalidManifests>) =>
  invalidManifests(...given).map(({ identity, file, line, message }) => [identity, `${file}:${line}`, message]);

test("each refused document is one invalid manifest, at the first of its errors", () => {
  const documents = [
    declared("b.yaml", 1, "good", false),
    declared("b.yaml", 12, "worse", true),
    declared("b.yaml", 5, "bad", true),
    declared("a.yaml", 1, "fine", false),
  ];
  const errors = [error("b.yaml", 14), error("b.yaml", 9), error("b.yaml", 7), error("b.yaml", 13)];
  expect(places(documents, errors)).toEqual([
    ["team/bad", "b.yaml:7", "unknown-field at 7"],
    ["team/worse", "b.yaml:13", "unknown-field at 13"],
  ]);
});

test("a file that cannot be read is one, whatever is wrong in it, and so is each document without a kind", () => {
  const documents = [declared("c.yaml", 1, "bad", true), declared("d.yaml", 1, "good", false)];
  const errors = [
    error("b.yaml", null, "not-text"),
    error("a.yaml", 9, "syntax"),
    error("a.yaml", 3, "syntax"),
    error("c.yaml", 2),
    error("c.yaml", 8, "no-type"),
    error("d.yaml", 6, "no-type"),
    error(null, null, "more"),
    { ...error("e.yaml", 1), severity: "warning" } as const,
  ];
  expect(places(documents, errors)).toEqual([
    ["", "a.yaml:3", "syntax at 3"],
    ["", "b.yaml:null", "not-text at null"],
    ["team/bad", "c.yaml:2", "unknown-field at 2"],
    ["", "c.yaml:8", "no-type at 8"],
    ["", "d.yaml:6", "no-type at 6"],
  ]);
});

test("a document whose error is at another one is still named, where it begins", () => {
  const cycle = [declared("a.yaml", 1, "one", true), declared("b.yaml", 4, "two", true)];
  expect(places(cycle, [error("a.yaml", 3, "cycle")])).toEqual([
    ["team/one", "a.yaml:3", "cycle at 3"],
    ["team/two", "b.yaml:4", expect.stringContaining("another manifest")],
  ]);
});

test("an invalid manifest has all of its first error, and one about several is the error of each", () => {
  const twice = { ...error("a.yaml", 3, "duplicate"), related: [{ file: "b.yaml", line: 7, column: 1 }] };
  const documents = [declared("a.yaml", 1, "one", true), declared("b.yaml", 4, "one", true)];
  const invalid = { identity: "team/one", kind: "team", code: "duplicate", message: "duplicate at 3" };
  expect(invalidManifests(documents, [twice, error("c.yaml", 2, "syntax")])).toEqual([
    { ...invalid, file: "a.yaml", line: 3 },
    { ...invalid, file: "b.yaml", line: 7 },
    { identity: "", kind: "", file: "c.yaml", line: 2, code: "syntax", message: "syntax at 2" },
  ]);
  expect(invalidManifests([declared("a.yaml", 1, "one", false)], [])).toEqual([]);
});

test("an error in a file before its first document, or in one that is fine, is nobody's", () => {
  const documents = [declared("a.yaml", 5, "bad", true), declared("a.yaml", 9, "good", false)];
  expect(places(documents, [error("a.yaml", 12), error("a.yaml", 2), error("a.yaml", 6)])).toEqual([
    ["", "a.yaml:2", "unknown-field at 2"],
    ["team/bad", "a.yaml:6", "unknown-field at 6"],
  ]);
});
