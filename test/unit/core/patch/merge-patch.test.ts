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

  test.each<[string, JsonObject, string]>([
    ["a removal of nothing", { keyed: [{ name: "q", $delete: true }] }, "/patch/keyed/0/$delete"],
    ["a removal that is not true", { keyed: [{ name: "x", $delete: "yes" }] }, "/patch/keyed/0/$delete"],
    ["a removal with another field", { keyed: [{ name: "x", $delete: true, free: 1 }] }, "/patch/keyed/0/free"],
    ["a removal of a field", { free: { $delete: true } }, "/patch/free/$delete"],
    ["a removal in a list without a key", { plain: [{ name: "x", $delete: true }] }, "/patch/plain/0/$delete"],
    ["two items with one key", { keyed: [{ name: "x" }, { name: "x", free: 1 }] }, "/patch/keyed/1"],
    ["an item without a key", { keyed: [{ zone: "any" }] }, "/patch/keyed/0"],
    ["an item that is no object", { keyed: ["x"] }, "/patch/keyed/0"],
    ["a replacement by no list", { keyed: { $replace: "x" } }, "/patch/keyed/$replace"],
    ["a replacement that does not stand alone", { keyed: { $replace: [], a: 1 } }, "/patch/keyed/$replace"],
  ])("has a fault at its own place for %s", (_, patch, pointer) => {
    expect(merged({ keyed: [{ name: "x" }] }, patch).faults.map((fault) => fault.pointer)).toEqual([pointer]);
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
