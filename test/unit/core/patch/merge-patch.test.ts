import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject, type Json, type JsonObject } from "../../../../src/contract/json.ts";
import { escapePointer, pointerTokens } from "../../../../src/contract/json-pointer.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { writtenValueAt } from "../../../../src/core/diff/pointer.ts";
import { mergePatch, type Patched } from "../../../../src/core/patch/merge-patch.ts";
import { originAt, UNPATCHED } from "../../../../src/core/patch/origin.ts";

const FREE: Shape = { is: "free" };
const VALUE: Shape = { is: "value" };
const SHAPE: Shape = {
  is: "object",
  fields: {
    a: VALUE,
    free: FREE,
    plain: { is: "list", items: VALUE },
    keyed: {
      is: "list",
      key: ["name", "zone"],
      items: { is: "object", fields: { name: VALUE, zone: { is: "value", default: "any" }, free: FREE } },
    },
  },
};

function merged(before: JsonObject, ...patches: readonly JsonObject[]) {
  let faults: readonly { readonly pointer: string; readonly summary: string }[] = [];
  let patched: Patched = { value: before, origin: UNPATCHED };
  for (const [at, value] of patches.entries()) {
    const next = mergePatch(SHAPE, patched, { value, from: at + 1, pointer: "/patch" });
    patched = next;
    faults = [...faults, ...next.faults];
  }
  return { ...patched, faults };
}

describe("a merge patch", () => {
  test.each<[JsonObject, JsonObject, JsonObject]>([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("makes of %j with %j what RFC 7396 says", (before, patch, after) => {
    expect(merged(before, patch).value).toEqual(after);
  });

  test("merges the items of a list by their key, with its defaults", () => {
    const before = { keyed: [{ name: "x", free: { k: 1 } }, { name: "y" }] };
    const patch = { keyed: [{ name: "y", zone: "any", free: { new: 2 } }, { name: "z" }] };
    const { value, origin } = merged(before, patch);
    const keyed = [{ name: "x", free: { k: 1 } }, { name: "y", zone: "any", free: { new: 2 } }, { name: "z" }];
    expect(value).toEqual({ keyed });
    expect(originAt(origin, "/keyed/1/name")).toEqual({ from: 1, pointer: "/patch/keyed/0/name" });
    expect(originAt(origin, "/keyed/0/free/k")).toEqual({ from: 0, pointer: "/keyed/0/free/k" });
  });

  test("removes an item by its key, and the others keep their places in the manifest", () => {
    const { value, origin, faults } = merged(
      { keyed: [{ name: "x" }, { name: "y" }] },
      { keyed: [{ name: "x", $delete: true }] },
    );
    expect([value, faults]).toEqual([{ keyed: [{ name: "y" }] }, []]);
    expect(originAt(origin, "/keyed/0/name")).toEqual({ from: 0, pointer: "/keyed/1/name" });
  });

  test("replaces a list", () => {
    const { value, origin } = merged({ keyed: [{ name: "x" }] }, { keyed: { $replace: [{ name: "z" }] } });
    expect(value).toEqual({ keyed: [{ name: "z" }] });
    expect(originAt(origin, "/keyed/0/name")).toEqual({ from: 1, pointer: "/patch/keyed/$replace/0/name" });
  });

  const byKey = "Items of this list merge by `name` and `zone`. Write `{ $replace: [...] }` in place of the list.";
  const removal = "In a list with a key write `{ KEY, $delete: true }`; null removes a field.";
  const replacement = [
    "`$replace` takes a list, and stands alone",
    "Write `{ $replace: [...] }` in place of the list.",
  ] as const;
  const ofNoKey = (name: string) =>
    [`\`${name}\` in a list without a key, which is replaced as a whole`, "Write the whole list."] as const;

  test.each<[JsonObject, string, string, string]>([
    [
      { keyed: [{ name: "q", $delete: true }] },
      "/keyed/0/$delete",
      "`$delete` removes nothing: the list has no such item",
      "Remove it.",
    ],
    [{ keyed: [{ name: "x", $delete: "yes" }] }, "/keyed/0/$delete", "`$delete` takes true alone", removal],
    [
      { keyed: [{ name: "x", zone: "any", $delete: true, "a/b": 1 }] },
      "/keyed/0/a~1b",
      "a field beside `$delete` that is no part of the key",
      removal,
    ],
    [{ free: { $delete: true } }, "/free/$delete", "`$delete` stands in no item of a list with a key", removal],
    [{ plain: [{ $delete: true }] }, "/plain/0/$delete", ...ofNoKey("$delete")],
    [{ plain: [{ b: [{ $replace: [] }] }] }, "/plain/0/b/0/$replace", ...ofNoKey("$replace")],
    [{ keyed: { $replace: [{ $delete: true }] } }, "/keyed/$replace/0/$delete", ...ofNoKey("$delete")],
    [
      { keyed: [{ name: "x" }, { name: "x", free: 1 }] },
      "/keyed/1",
      "an item with the key of an earlier one of this list",
      "Write both as one item.",
    ],
    [{ keyed: [{ zone: "any" }] }, "/keyed/0", "an item without its key `name`", byKey],
    [{ keyed: [{ name: null }] }, "/keyed/0", "an item without its key `name`", byKey],
    [{ keyed: ["x"] }, "/keyed/0", "an item that is no object, in a list with a key", byKey],
    [{ keyed: { $replace: "x" } }, "/keyed/$replace", ...replacement],
    [{ keyed: { $replace: [], a: 1 } }, "/keyed/$replace", ...replacement],
  ])("has a fault at its own place for %j", (patch, pointer, summary, detail) => {
    const { faults } = merged({ keyed: [{ name: "x" }] }, patch);
    expect(faults).toEqual([{ pointer: `/patch${pointer}`, code: "patch", summary, detail }]);
  });

  test("leaves out what is wrong, and merges the rest", () => {
    const keyed = [{ name: "x" }];
    const ofItems = (...items: readonly Json[]) => merged({ keyed }, { keyed: items }).value.keyed;
    expect(ofItems("y", { zone: "eu" }, { name: "z" })).toEqual([{ name: "x" }, { name: "z" }]);
    expect(ofItems({ name: "q", $delete: true }, { name: "x", free: 1 })).toEqual([{ name: "x", free: 1 }]);
    expect(ofItems({ name: "x", free: 1 }, { name: "x", free: 2 })).toEqual([{ name: "x", free: 2 }]);
    expect(merged({ keyed }, { keyed: { $replace: "x" } }).value).toEqual({ keyed });
    expect(merged({}, { keyed: { $replace: "x" } }).value).toEqual({ keyed: [] });
    expect(merged({ free: { a: 1 } }, { free: { $delete: true, b: 2 } }).value).toEqual({ free: { a: 1, b: 2 } });
  });

  test("has no fault where a key is null or missing that has a default, nor where markers are names of free fields", () => {
    for (const patch of [
      { keyed: [{ name: "x", zone: null }, { name: "y" }] },
      { keyed: [{ name: "x", zone: "any", $delete: true }] },
      { keyed: { $replace: [{ name: "y" }] }, free: { list: [{ delete: true }, ["replace"], null] } },
    ])
      expect(merged({ keyed: [{ name: "x" }] }, patch).faults).toEqual([]);
  });

  test("makes a list of items of what is no list, and of a list that is missing", () => {
    const patch = { keyed: [{ name: "x", free: { a: null } }] };
    for (const before of [{}, { keyed: "text" }, { keyed: null }]) {
      const { value, origin } = merged(before, patch);
      expect(value).toEqual({ keyed: [{ name: "x", free: {} }] });
      expect(originAt(origin, "/keyed")).toEqual({ from: 1, pointer: "/patch/keyed" });
      expect(originAt(origin, "/keyed/0/name")).toEqual({ from: 1, pointer: "/patch/keyed/0/name" });
    }
    expect(merged({ keyed: ["x", { name: "y" }] }, { keyed: [{ name: "y", free: 1 }] }).value).toEqual({
      keyed: ["x", { name: "y", free: 1 }],
    });
  });

  test("says where removed fields and items are removed, also after another patch", () => {
    const { origin } = merged(
      { a: "b", keyed: [{ name: "x" }, { name: "y" }], free: { k: { l: 1 } } },
      { a: null, keyed: [{ name: "x", $delete: true }], free: { "k/m": 2 } },
      { keyed: [{ name: "z" }], free: { k: "text" } },
    );
    const places = ["/a", "/keyed", "/keyed/x:any", "/keyed/0", "/keyed/1", "/free", "/free/k~1m", "/free/k", "/b"];
    expect(places.map((place) => originAt(origin, place))).toEqual([
      { from: 1, pointer: "/patch/a" },
      { from: 0, pointer: "/keyed" },
      { from: 1, pointer: "/patch/keyed/0" },
      { from: 0, pointer: "/keyed/1" },
      { from: 2, pointer: "/patch/keyed/0" },
      { from: 0, pointer: "/free" },
      { from: 1, pointer: "/patch/free/k~1m" },
      { from: 2, pointer: "/patch/free/k" },
      { from: 0, pointer: "/b" },
    ]);
  });

  test("replaces a value that is no object from the patch on", () => {
    const { value, origin } = merged({ free: "text" }, { free: { a: 1 } });
    expect(value).toEqual({ free: { a: 1 } });
    expect(originAt(origin, "/free")).toEqual({ from: 1, pointer: "/patch/free" });
    expect(originAt(origin, "/free/b")).toEqual({ from: 1, pointer: "/patch/free/b" });
  });
});

const name = fc.constantFrom("a", "free", "plain", "x/y", "~");
const leaf = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constantFrom("s", true, null));
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie("tree"), { maxLength: 3 }), fc.dictionary(name, tie("tree"))),
}));
const item = fc.record({ name: fc.constantFrom("p", "q", "r", "s"), zone: fc.constantFrom("any", "eu"), free: tree });
const keyed = fc.uniqueArray(item, { selector: (one) => `${one.name}:${one.zone}`, maxLength: 4 });
const document = fc
  .tuple(fc.dictionary(name, tree), fc.option(keyed))
  .map(([fields, items]): JsonObject => (items === null ? fields : { ...fields, keyed: items }));

test("each value of the result stands where the result says, whatever the patches", () => {
  fc.assert(
    fc.property(document, fc.array(document, { maxLength: 3 }), (before, patches) => {
      const { value, origin } = merged(before, ...patches);
      const documents: readonly JsonObject[] = [before, ...patches.map((patch) => ({ patch }))];
      for (const [pointer, found] of leavesOf(value, "")) {
        const { from, pointer: place } = originAt(origin, pointer);
        expect(writtenValueAt(documents[from], pointerTokens(place))).toEqual(found);
      }
    }),
  );
});

test("without keyed lists the result is that of RFC 7396", () => {
  fc.assert(
    fc.property(fc.dictionary(name, tree), fc.dictionary(name, tree), (before, patch) => {
      expect(merged(before, patch).value).toEqual(rfc7396(before, patch));
    }),
  );
});

// The pseudocode of RFC 7396, section 2.
function rfc7396(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const result = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, field] of Object.entries(patch)) {
    if (field === null) result.delete(key);
    else result.set(key, rfc7396(result.get(key), field));
  }
  return Object.fromEntries(result);
}

function leavesOf(value: Json, pointer: string): readonly (readonly [string, Json])[] {
  if (typeof value !== "object" || value === null) return [[pointer, value]];
  return Object.entries(value).flatMap(([key, field]) => leavesOf(field, `${pointer}/${escapePointer(key)}`));
}
