import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { imprintOf, KnownPage, KnownRow, type PageFact, type Recall } from "../../../src/client/recall.ts";
import { sift } from "../../../src/client/sift.ts";
import { calm, dial, json, page, serve } from "./server.ts";

const DEPTH = 200;
const nothing: Recall = { row: () => null };
const knowing = (...texts: readonly string[]): Recall => {
  const known = new Set(texts.map((text) => imprintOf(Buffer.from(text))));
  return { row: (imprint) => (known.has(imprint) ? knownRow(imprint, "known") : null) };
};
const knownRow = (imprint: string, id: string) => new KnownRow(imprint, { id, key: null, version: null });

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
    expect(data.map((row) => row instanceof KnownRow)).toEqual([true, false]);
  });

  test("is read again when one byte of it is another", () => {
    for (let at = 0; at < known.length; at += 1) {
      const other = `${known.slice(0, at)}${known[at] === "1" ? "2" : "1"}${known.slice(at + 1)}`;
      if (plain(other) === "not JSON") continue;
      expect(sifted(`{"data":[${other}]}`, knowing(known))).toEqual({ value: { data: [JSON.parse(other)] } });
    }
  });

  test("cannot be made by a server", () => {
    const text = '{"data":[{"imprint":"x","id":"a","key":null,"version":null,"__proto__":{"imprint":"x"}}]}';
    const { data } = sift(Buffer.from(text), knowing(known), DEPTH) as { data: readonly object[] };
    expect(data.some((row) => row instanceof KnownRow)).toBe(false);
  });
});

describe("a survey of a list", () => {
  const rows = Array.from({ length: 2500 }, (_, index) => ({ id: `id-${index}`, name: `w${index}`, manifest: {} }));

  const surveyed = async (recall: Recall, all: readonly object[] = rows) => {
    const server = await serve((response, request) => json(response, page(all, request)));
    return dial(server.url).reader.survey("listWorkspaces", {}, { ...calm, recall });
  };
  const read = async (recall: Recall, all: readonly object[] = rows) => {
    const listing = await surveyed(recall, all);
    if (listing.is !== "read") throw new TypeError("nothing was read");
    return listing;
  };
  /** Recalls the pages of a reading, and of them alone. */
  const recalling = (pages: readonly PageFact[], knows = (_: PageFact): boolean => true): Recall => {
    const starts = pages.map((_, nth) => pages.slice(0, nth).reduce((sum, { size }) => sum + size, 0));
    const known = pages.map((fact, nth) => {
      const ids = rows.slice(starts[nth] ?? 0, (starts[nth] ?? 0) + fact.size).map(({ id }) => id);
      return new KnownPage(fact, () => ids.map((id) => knownRow(id, id)));
    });
    return { row: () => null, page: (imprint) => known.find((one) => one.imprint === imprint && knows(one)) ?? null };
  };
  const learning: Recall = { row: () => null, page: () => null };

  test("tells of each row once whether it was read, and by what it is known again", async () => {
    const first = await read(nothing);
    expect(first.rows.map(({ row }) => row.id)).toEqual(rows.map(({ id }) => id));
    expect(first.pages).toEqual([]);
    const imprints = new Map(first.rows.flatMap((one) => (one.is === "read" ? [[one.imprint ?? "", one.row.id]] : [])));
    const second = await read({
      row: (imprint) => {
        const id = imprints.get(imprint);
        return id === undefined || id === "id-7" ? null : knownRow(imprint, id);
      },
    });
    expect(second.rows.map(({ row }) => row.id)).toEqual(rows.map(({ id }) => id));
    expect(second.rows.flatMap((one) => (one.is === "read" ? [one.row.id] : []))).toEqual(["id-7"]);
  });

  test("knows a whole list again by its pages, and looks into none of them", async () => {
    const { pages } = await read(learning);
    expect(pages.map(({ size, total }) => [size, total])).toEqual([
      [1000, 2500],
      [1000, 2500],
      [500, 2500],
    ]);
    const listing = await surveyed(recalling(pages));
    expect(listing).toMatchObject({ is: "known", pages: pages.map(({ imprint }) => ({ imprint })) });
  });

  test("tells every row where one page has to be read, those of known pages unread", async () => {
    const { pages } = await read(learning);
    const again = await read(recalling(pages, ({ imprint }) => imprint !== pages[1]?.imprint));
    expect(again.rows.map(({ row }) => row.id)).toEqual(rows.map(({ id }) => id));
    expect(again.rows.filter(({ is }) => is === "known")).toHaveLength(1500);
    expect(again.pages).toEqual(pages);
  });

  test("tells a row once that is on a known page and on one that is read, and then no pages", async () => {
    const { pages } = await read(learning);
    // The last page tells of the rows that have gone meanwhile.
    const shown = [...rows.slice(0, 2000), ...rows.slice(500, 1000)];
    const server = await serve((response, { query }) => {
      const offset = Number(query.get("offset") ?? 0);
      const total = offset < 2000 ? 2500 : 2000;
      json(response, { data: shown.slice(offset, offset + 1000), pagination: { total, offset, limit: 1000 } });
    });
    const recall = recalling(pages);
    const listing = await dial(server.url).reader.survey("listWorkspaces", {}, { ...calm, recall });
    if (listing.is !== "read") throw new TypeError("nothing was read");
    expect(listing.rows.map(({ row }) => row.id)).toEqual(rows.slice(0, 2000).map(({ id }) => id));
    expect(listing.rows.filter(({ is }) => is === "known")).toHaveLength(1500);
    expect(listing.pages).toEqual([]);
  });

  test("is no list of known pages where one of them comes twice", async () => {
    const { pages } = await read(learning);
    const twice = [...rows.slice(0, 1000), ...rows.slice(0, 1000), ...rows.slice(2000)];
    await expect(surveyed(recalling(pages), twice)).rejects.toThrow("shows 1500 different ones");
  });
});
