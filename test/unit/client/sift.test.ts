import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { imprintOf, isKnownRow, knownRow, type Recall } from "../../../src/client/recall.ts";
import { sift } from "../../../src/client/sift.ts";
import { calm, dial, json, page, serve } from "./server.ts";

const DEPTH = 200;
const nothing: Recall = { row: () => null };
const knowing = (...texts: readonly string[]): Recall => {
  const known = new Set(texts.map((text) => imprintOf(Buffer.from(text))));
  return { row: (imprint) => (known.has(imprint) ? knownRow(imprint, "known") : null) };
};

const plain = (text: string): unknown => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return "not JSON";
  }
};
const sifted = (text: string, recall = nothing): unknown => {
  try {
    const value = sift(Buffer.from(text), recall, DEPTH);
    return value === null ? "unclear" : { value: JSON.parse(JSON.stringify(value)) };
  } catch {
    return "not JSON";
  }
};

describe("a page, row by row", () => {
  test.each([
    '{"data":[{"id":1},{"id":"]}"}],"pagination":{"total":2}}',
    ' {\n "pagination" : {"total": 0, "data": [1]} ,\t"data" : [ ] } ',
    '{"x":"data","data":[{"a":"\\"}"} , {"b":[[]]}]}',
    '{"data":[{"a":"ü€😀"}]}',
  ])("is what it is as a whole: %s", (text) => {
    expect(sifted(text)).toEqual(plain(text));
  });

  test.each([
    ["two lists of rows", '{"data":[{"id":1}],"data":[]}'],
    ["two lists of rows, one spelt otherwise", '{"data":[{"id":1}],"d\\u0061ta":7}'],
    ["rows that are no objects", '{"data":[1]}'],
    ["no list", '{"data":{"id":1}}'],
    ["no page", '[{"data":[]}]'],
    ["a row nested too deeply", `{"data":[{"a":${"[".repeat(300)}${"]".repeat(300)}}]}`],
    ["a page nested too deeply", `{"data":[],"more":${"[".repeat(300)}${"]".repeat(300)}}`],
  ])("is left to be read as a whole: %s", (_, text) => {
    expect(sifted(text)).toBe("unclear");
  });

  test("is not JSON where a row, a comma or the rest is not", () => {
    for (const text of ['{"data":[{"a" 1}]}', '{"data":[{}]]}', '{"data":[{}]} x', '{"data":[{"a":"\n"}]}'])
      expect(sifted(text)).toBe("not JSON");
    for (const text of ['{"data":[{},]}', '{"data":[{}{}]}', '{"data":[,{}]}', '{"data":[{}']) {
      expect(sifted(text)).toBe("unclear");
      expect(plain(text)).toBe("not JSON");
    }
  });

  test("never says anything else than reading the whole would, whatever byte is changed", () => {
    const row = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
    const pages = fc.record({ before: fc.jsonValue(), data: fc.array(row, { maxLength: 4 }), after: fc.jsonValue() });
    const bytes = fc.constantFrom(...'{}[]",:\\ \n0a"data"');
    fc.assert(
      fc.property(pages, fc.nat(), bytes, fc.boolean(), (content, at, byte, isBroken) => {
        const text = JSON.stringify(content, null, at % 3);
        const place = at % text.length;
        const given = isBroken ? text.slice(0, place) + byte + text.slice(place + 1) : text;
        const found = sifted(given);
        if (found !== "unclear") expect(found).toEqual(plain(given));
        else expect(isBroken).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("a row that is known by its bytes", () => {
  const known = '{"id":"a","n":1}';

  test("is not read, but counted", () => {
    const value = sift(Buffer.from(`{"data":[${known},{"id":"b"}]}`), knowing(known), DEPTH);
    const { data } = value as { data: readonly object[] };
    expect(data.map(isKnownRow)).toEqual([true, false]);
  });

  test("is read again when one byte of it is another", () => {
    for (let at = 0; at < known.length; at += 1) {
      const other = `${known.slice(0, at)}${known[at] === "1" ? "2" : "1"}${known.slice(at + 1)}`;
      if (plain(other) === "not JSON") continue;
      expect(sifted(`{"data":[${other}]}`, knowing(known))).toEqual({ value: { data: [JSON.parse(other)] } });
    }
  });

  test("cannot be made by a server", () => {
    expect(isKnownRow(JSON.parse('{"Symbol(known)":true,"known":true,"__proto__":{"known":true}}'))).toBe(false);
  });
});

describe("a survey of a list", () => {
  const rows = Array.from({ length: 2500 }, (_, index) => ({ id: `id-${index}`, name: `w${index}`, manifest: {} }));

  test("tells of each row once whether it was read, and by what it is known again", async () => {
    const server = await serve((response, request) => json(response, page(rows, request)));
    const { reader } = dial(server.url);
    const first = await reader.survey("listWorkspaces", {}, { ...calm, recall: nothing });
    expect(first.map(({ row }) => row.id)).toEqual(rows.map(({ id }) => id));
    const imprints = new Map(first.flatMap((one) => (one.is === "read" ? [[one.imprint ?? "", one.row.id]] : [])));
    const recall: Recall = {
      row: (imprint) => {
        const id = imprints.get(imprint);
        return id === undefined || id === "id-7" ? null : knownRow(imprint, id);
      },
    };
    const second = await reader.survey("listWorkspaces", {}, { ...calm, recall });
    expect(second.map(({ row }) => row.id)).toEqual(rows.map(({ id }) => id));
    expect(second.flatMap((one) => (one.is === "read" ? [one.row.id] : []))).toEqual(["id-7"]);
  });

  test("knows a whole page again, and tells of those that it has to read", async () => {
    const server = await serve((response, request) => json(response, page(rows, request)));
    const { reader } = dial(server.url);
    const pages = new Map<string, { readonly rows: readonly string[]; readonly total: number }>();
    const learning: Recall = {
      row: () => null,
      page: () => null,
      sawPage: (imprint, seen) => pages.set(imprint, seen),
    };
    await reader.survey("listWorkspaces", {}, { ...calm, recall: learning });
    expect([...pages.values()].map(({ rows: { length }, total }) => [length, total])).toEqual([
      [1000, 2500],
      [1000, 2500],
      [500, 2500],
    ]);
    const recall: Recall = {
      row: () => null,
      page: (imprint) => {
        const seen = pages.get(imprint);
        return seen === undefined ? null : { ...seen, rows: seen.rows.map((row) => knownRow(row, row)) };
      },
    };
    const known = await reader.survey("listWorkspaces", {}, { ...calm, recall });
    expect(known.every(({ is }) => is === "known")).toBe(true);
    expect(known).toHaveLength(2500);
  });
});
