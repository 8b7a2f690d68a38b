import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createListReader, type KnownList } from "../../../src/cache/list-reader.ts";
import { type CachedPage, UnparsedRow } from "../../../src/cache/live-facts.ts";
import { readPageRows } from "../../../src/cache/read-page-rows.ts";
import { contentDigest } from "../../../src/contract/content-digest.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { kindOf } from "../../../src/kinds/index.ts";
import { calm, dial, json, page, serve } from "../client/server.ts";

const DEPTH = 200;

const plain = (text: string): unknown => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return "not JSON";
  }
};
const readByRows = (text: string): unknown => {
  try {
    const value = readPageRows(Buffer.from(text), DEPTH, (row) => JSON.parse(row.toString("utf8")));
    return value === null ? "unclear" : { value };
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
    expect(readByRows(text)).toEqual(plain(text));
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
    expect(readByRows(text)).toBe("unclear");
  });

  test("is not JSON where a row, a comma or the rest is not", () => {
    for (const text of ['{"data":[{"a" 1}]}', '{"data":[{}]]}', '{"data":[{}]} x', '{"data":[{"a":"\n"}]}'])
      expect(readByRows(text)).toBe("not JSON");
    for (const text of ['{"data":[{},]}', '{"data":[{}{}]}', '{"data":[,{}]}', '{"data":[{}']) {
      expect(readByRows(text)).toBe("unclear");
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
        const found = readByRows(given);
        if (found !== "unclear") expect(found).toEqual(plain(given));
        else expect(isBroken).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

const kind = kindOf("workspace");
const list = kind?.list;

/** A reader of the list of workspaces that knows these pages; `noted` are those that it has read. */
function reading(pages: readonly CachedPage[], given: Partial<KnownList> = {}) {
  if (kind === undefined || list === undefined) throw new TypeError("workspaces have a list");
  const noted: CachedPage[] = [];
  const on = { mustRead: () => false, isInSync: () => false, noteRow: () => undefined, ...given, pages };
  return { ...createListReader(kind, list, { ...on, noteList: (read) => void noted.push(...read) }), noted };
}

const row = (nth: number, more: JsonObject = {}): JsonObject => {
  const manifest = { type: "workspace", name: `w${nth}`, cluster_fqn: "c1", ...more };
  return { id: `id-${nth}`, fqn: `c1:w${nth}`, name: `w${nth}`, clusterId: "c1", manifest };
};
const pageOf = (...rows: readonly string[]) => Buffer.from(`{"data":[${rows}],"pagination":{"total":${rows.length}}}`);
const rowsOf = (value: unknown): readonly object[] => (value as { data: readonly object[] }).data;

describe("a row that is known by its bytes", () => {
  const text = JSON.stringify(row(1));
  const known = (): readonly CachedPage[] => {
    const { parse, end, noted } = reading([]);
    parse(pageOf(text), DEPTH);
    end(1);
    return noted;
  };

  test("is not parsed, but counted", () => {
    const value = reading(known()).parse(pageOf(text, JSON.stringify(row(2))), DEPTH);
    expect(rowsOf(value).map((one) => one instanceof UnparsedRow)).toEqual([true, false]);
  });

  test("is parsed where somebody has to read it", () => {
    const { parse, rowOf } = reading(known(), { mustRead: (identity) => identity === "workspace/c1:w1" });
    const [one] = rowsOf(parse(pageOf(text), DEPTH));
    expect(rowOf(one)).toMatchObject({
      key: "c1:w1",
      row: { manifest: { name: "w1" } },
      digest: contentDigest(Buffer.from(text)),
    });
  });

  test("is parsed again when one byte of it is another", () => {
    for (let at = 0; at < text.length; at += 1) {
      const other = `${text.slice(0, at)}${text[at] === "1" ? "2" : "1"}${text.slice(at + 1)}`;
      if (plain(other) === "not JSON") continue;
      const [one] = rowsOf(reading(known()).parse(pageOf(other), DEPTH));
      expect(one).toEqual(JSON.parse(other));
    }
  });

  test("cannot be made by a server", () => {
    const made = '{"digest":"x","id":"a","key":null,"version":null,"manifest":{},"__proto__":{"digest":"x"}}';
    expect(rowsOf(reading(known()).parse(pageOf(made), DEPTH)).some((one) => one instanceof UnparsedRow)).toBe(false);
  });
});

describe("a list that was read before", () => {
  const rows = Array.from({ length: 2500 }, (_, nth) => row(nth));

  const read = async (pages: readonly CachedPage[], given: Partial<KnownList> = {}, all = rows) => {
    const server = await serve((response, request) => json(response, page(all, request)));
    const { parse, condense, end, rowOf, noted } = reading(pages, given);
    const replies = await dial(server.url).reader.list("listWorkspaces", {}, { ...calm, parse, condense });
    end(replies.length);
    return { seen: replies.flatMap((one) => rowOf(one) ?? []), noted };
  };
  const keys = rows.map((_, nth) => `c1:w${nth}`);

  test("is known again by its pages, and none of its rows is parsed", async () => {
    const first = await read([]);
    expect(first.seen.map(({ key }) => key)).toEqual(keys);
    expect(first.seen.every((one) => one.row !== null)).toBe(true);
    expect(first.noted.map((one) => [one.rows.length, one.total]).toSorted()).toEqual([
      [1000, 2500],
      [1000, 2500],
      [500, 2500],
    ]);
    const second = await read(first.noted);
    expect(second.seen.map(({ key }) => key)).toEqual(keys);
    expect(second.seen.filter((one) => one.row !== null)).toEqual([]);
    expect(new Set(second.noted)).toEqual(new Set(first.noted));
  });

  test("has the rows parsed that somebody has to read, and those that have changed", async () => {
    const { noted } = await read([]);
    const changed = rows.map((one, nth) => (nth === 1500 ? row(nth, { labels: { a: "b" } }) : one));
    const { seen } = await read(noted, { mustRead: (identity) => identity === "workspace/c1:w7" }, changed);
    expect(seen.map(({ key }) => key)).toEqual(keys);
    expect(seen.flatMap((one) => (one.row === null ? [] : [one.key]))).toEqual(["c1:w7", "c1:w1500"]);
  });

  test("gives up rows that are in sync as soon as their page is read", async () => {
    const { seen, noted } = await read([], { isInSync: ({ key }) => key !== "c1:w7" });
    expect(seen.flatMap((one) => (one.row === null ? [] : [one.key]))).toEqual(["c1:w7"]);
    expect(noted.flatMap((one) => one.rows)).toHaveLength(2500);
  });

  test("shows a row once that is on a known page and on another", async () => {
    const { noted } = await read([]);
    // The last page tells of the rows that have gone meanwhile.
    const shown = [...rows.slice(0, 2000), ...rows.slice(500, 1000)];
    const server = await serve((response, { query }) => {
      const offset = Number(query.get("offset") ?? 0);
      const total = offset < 2000 ? 2500 : 2000;
      json(response, { data: shown.slice(offset, offset + 1000), pagination: { total, offset, limit: 1000 } });
    });
    const { parse, rowOf } = reading(noted);
    const replies = await dial(server.url).reader.list("listWorkspaces", {}, { ...calm, parse });
    expect(replies.flatMap((one) => rowOf(one)?.key ?? [])).toEqual(keys.slice(0, 2000));
  });

  test("that shows a page twice is refused as any other", async () => {
    const { noted } = await read([]);
    const twice = [...rows.slice(0, 1000), ...rows.slice(0, 1000), ...rows.slice(2000)];
    await expect(read(noted, {}, twice)).rejects.toThrow("returns 1500 distinct ones");
  });
});
