import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Page } from "../../../src/client/read-envelope.ts";
import { type PageRange, type PageReader, readList } from "../../../src/client/read-list.ts";

type Row = { readonly id: string };

const rows = (count: number): readonly Row[] => Array.from({ length: count }, (_, index) => ({ id: `r${index}` }));

function pages(
  answer: (span: PageRange, nth: number) => Page<Row> | "oversize",
): PageReader<Row> & { asked: PageRange[] } {
  const asked: PageRange[] = [];
  const read: PageReader<Row> = async (span) => {
    asked.push(span);
    return answer(span, asked.length);
  };
  return Object.assign(read, { asked });
}

const slice = (all: readonly Row[], { offset, limit }: PageRange) => ({
  rows: all.slice(offset, offset + limit),
  total: all.length,
});

test("an empty list is one page", async () => {
  const read = pages((span) => slice([], span));
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "complete", rows: [] });
  expect(read.asked).toHaveLength(1);
});

test("every row comes once and in order, whatever the sizes of list and page", async () => {
  for (const count of [1, 9, 10, 11, 20, 95]) {
    const all = rows(count);
    const read = pages((span) => slice(all, span));
    expect(await readList(read, { limit: 10 })).toMatchObject({ state: "complete", rows: all });
    expect(read.asked).toHaveLength(Math.ceil(count / 10));
  }
});

test("a server that gives fewer rows than asked for is read to its end", async () => {
  const all = rows(35);
  const read = pages(({ offset, limit }) => slice(all, { offset, limit: Math.min(limit, 4) }));
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "complete", rows: all });
});

test("F18 a server that ignores the limit is read whole with its first page", async () => {
  const all = rows(35);
  const read = pages(() => ({ rows: all, total: 35 }));
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "complete", rows: all });
  expect(read.asked).toHaveLength(1);
});

test("F18 a total of a thousand million is refused at once", async () => {
  const read = pages((span) => ({ ...slice(rows(10), span), total: 1e9 }));
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "inconsistent" });
  expect(read.asked).toHaveLength(1);
});

test("F18 a page that is always the same ends in an error, soon", async () => {
  const read = pages(() => ({ rows: rows(10), total: 100_000 }));
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "inconsistent" });
  expect(read.asked.length).toBeLessThan(50);
});

test("F18 a list that grows with every page ends in an error, soon", async () => {
  let last = 0;
  const read = pages(({ limit }) => {
    const first = last;
    last += limit;
    return { rows: rows(last).slice(first), total: last + limit };
  });
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "inconsistent" });
  expect(read.asked.length).toBeLessThan(50);
});

test("F18 a total without rows is an error, not an empty list", async () => {
  const read = pages(() => ({ rows: [], total: 5 }));
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "inconsistent" });
});

test("F19 a row inserted between two pages makes neither a gap nor a double", async () => {
  let all = rows(25);
  const read = pages((span, nth) => {
    if (nth === 2) all = [{ id: "new" }, ...all];
    return slice(all, span);
  });
  const listing = await readList(read, { limit: 10 });
  expect(listing).toMatchObject({ state: "complete", rows: [{ id: "new" }, ...rows(25)] });
});

test("F19 a list that others add to all the time is read with all that was there when the reading began", async () => {
  let all = rows(35);
  const read = pages((span, nth) => {
    all = [{ id: `new-${nth}` }, ...all];
    return slice(all, span);
  });
  const listing = await readList(read, { limit: 10 });
  expect(listing).toMatchObject({ state: "complete", rows: all });
});

test("F19 a row removed between two pages hides none of the others", async () => {
  let all = rows(25);
  const read = pages((span, nth) => {
    if (nth === 2) all = all.slice(1);
    return slice(all, span);
  });
  expect(await readList(read, { limit: 10 })).toMatchObject({ state: "complete", rows: rows(25).slice(1) });
});

test("F17 a page that is too large is asked for in halves, and only one row too large is an error", async () => {
  const all = rows(40);
  const heavy = (span: PageRange, weight: number) =>
    slice(all, span).rows.reduce((sum, { id }) => sum + (id === "r7" ? weight : 1), 0) > 8
      ? "oversize"
      : slice(all, span);
  const read = pages((span) => heavy(span, 6));
  expect(await readList(read, { limit: 32 })).toMatchObject({ state: "complete", rows: all });
  expect(
    await readList(
      pages((span) => heavy(span, 9)),
      { limit: 32 },
    ),
  ).toEqual({ state: "oversize" });
});

test("rows without an id are told apart by their name, or by all they say", async () => {
  const named = [{ name: "a" }, { name: "b" }, { key: 1 }, { key: 2 }];
  const read = async ({ offset, limit }: PageRange) => ({ rows: named.slice(offset, offset + limit), total: 4 });
  expect(await readList(read, { limit: 2 })).toMatchObject({ state: "complete", rows: named });
});

test("after a page that fails no further one is asked for", async () => {
  const read = pages((span, nth) => {
    if (nth === 3) throw new Error("gone");
    return slice(rows(1000), span);
  });
  await expect(readList(read, { limit: 10 })).rejects.toThrow("gone");
  const asked = read.asked.length;
  await setImmediate();
  expect(asked).toBeLessThan(100);
  expect(read.asked).toHaveLength(asked);
});
