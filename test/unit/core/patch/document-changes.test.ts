import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/contract/json.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { type MatchingPatch, patchChanges } from "../../../../src/core/patch/document-changes.ts";
import { mergePatch } from "../../../../src/core/patch/merge-patch.ts";
import { UNPATCHED } from "../../../../src/core/patch/origin.ts";
import { combinedPatch, patchBetween, splitPatch } from "../../../../src/core/patch/patch-between.ts";

const VALUE: Shape = { is: "value" };
const OBJECT: Shape = { is: "object", fields: { x: VALUE, y: VALUE } };
const SHAPE: Shape = {
  is: "object",
  fields: {
    a: VALUE,
    image: OBJECT,
    plain: { is: "list", items: VALUE },
    keyed: {
      is: "list",
      key: ["name", "zone"],
      items: { is: "object", fields: { name: VALUE, zone: { is: "value", default: "any" }, image: OBJECT } },
    },
  },
};

function merged(before: JsonObject, patches: readonly (JsonObject | null)[]): JsonObject {
  return patches.reduce<JsonObject>((value, patch, at) => {
    return mergePatch(SHAPE, { value, origin: UNPATCHED }, { value: patch ?? {}, from: at, pointer: "" }).value;
  }, before);
}

const ID = "service/c:w/a";
const own = (patch: JsonObject): MatchingPatch => ({ match: ID, patch });
const shared = (patch: JsonObject): MatchingPatch => ({ match: "service/**", patch });

/** The patches after the changes. */
function changed(before: JsonObject, after: JsonObject, documents: readonly MatchingPatch[]) {
  const { changed: edits, added } = patchChanges(SHAPE, { identity: ID, before, after }, documents);
  const patches = documents.map((one) => edits.get(one) ?? one.patch);
  return { edits, added, patches: added === null ? patches : [...patches, added] };
}

describe("the changes to patches", () => {
  test("are made in the document that sets the field, and in the last one for what none sets", () => {
    const documents = [own({ image: { x: 1 } }), own({ a: 1 })];
    const { patches, added } = changed({ a: 1, image: { x: 1, y: 1 } }, { a: 2, image: { x: 2, y: 2 } }, documents);
    expect([patches, added]).toEqual([[{ image: { x: 2 } }, { a: 2, image: { y: 2 } }], null]);
  });

  test("leave a document that may match other resources as it is, and all before it", () => {
    const documents = [own({ a: 1 }), shared({ a: 2 })];
    const { edits, added } = changed({ a: 2 }, { a: 3 }, documents);
    expect([edits.size, added]).toEqual([0, { a: 3 }]);
    expect(changed({ a: 2 }, { a: 3 }, [...documents, own({ image: { x: 1 } })]).added).toBeNull();
  });

  test("change an item of a list by its key, or replace the list where its order changes", () => {
    const [x, y] = [{ name: "x", image: { x: 1, y: 1 } }, { name: "y" }];
    expect(patchBetween(SHAPE, { keyed: [x, y] }, { keyed: [{ ...x, image: { x: 2, y: 1 } }, y] })).toEqual({
      keyed: [{ name: "x", image: { x: 2 } }],
    });
    expect(patchBetween(SHAPE, { keyed: [x, y] }, { keyed: [y, x] })).toEqual({ keyed: { $replace: [y, x] } });
    expect(patchBetween(SHAPE, { keyed: [x, y] }, { keyed: [y] })).toEqual({ keyed: [{ name: "x", $delete: true }] });
    const documents = [own({ keyed: [{ name: "x", image: { x: 1 } }] })];
    expect(changed({ keyed: [x, y] }, { keyed: [{ ...x, image: { x: 2, y: 1 } }, y] }, documents).patches).toEqual([
      { keyed: [{ name: "x", image: { x: 2 } }] },
    ]);
  });

  const number = fc.integer({ min: 0, max: 3 });
  const image = fc.record({ x: number, y: number }, { requiredKeys: [] });
  const item = fc.record({ name: fc.constantFrom("p", "q", "r"), image }, { requiredKeys: ["name"] });
  const keyed = fc.uniqueArray(item, { selector: ({ name }) => name });
  const manifest: fc.Arbitrary<JsonObject> = fc.record(
    { a: number, image, keyed, plain: fc.array(number) },
    { requiredKeys: [] },
  );
  const document = fc.tuple(manifest, fc.boolean()).map(([patch, isOwn]) => (isOwn ? own(patch) : shared(patch)));

  test("give exactly the manifest that is wanted, whatever patches there are", () => {
    fc.assert(
      fc.property(manifest, fc.array(document, { maxLength: 4 }), manifest, (start, documents, after) => {
        const before = merged(
          start,
          documents.map(({ patch }) => patch),
        );
        const { patches, edits } = changed(before, after, documents);
        expect(merged(start, patches)).toEqual<Json>(after);
        expect([...edits.keys()].every(({ match }) => match === ID)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("the smallest patch", () => {
  const item = (name: string, x: number, more: JsonObject = {}) => ({ name, image: { x, y: 1 }, ...more });

  test.each<[JsonObject, JsonObject, JsonObject]>([
    [{ a: 1 }, { a: 1 }, {}],
    [{ a: 1, image: { x: 1, y: 1 } }, { a: 1, image: { x: 2, y: 1 } }, { image: { x: 2 } }],
    [{ a: 1, image: { x: 1 } }, { image: { x: 1, y: 2 } }, { image: { y: 2 }, a: null }],
    [{ a: 1 }, { a: { x: 1 } }, { a: { x: 1 } }],
    [{ a: { x: 1 } }, { a: 1 }, { a: 1 }],
    [{ plain: [1] }, { plain: [1, 2] }, { plain: [1, 2] }],
    [{}, { keyed: [item("p", 1)] }, { keyed: [item("p", 1)] }],
    [{ keyed: "text" }, { keyed: [item("p", 1)] }, { keyed: [item("p", 1)] }],
    [{ keyed: [] }, { keyed: [] }, {}],
    [{ keyed: [item("p", 1)] }, { keyed: [] }, { keyed: [{ name: "p", $delete: true }] }],
    [{ keyed: [item("p", 1)] }, { keyed: [item("p", 1), item("q", 1)] }, { keyed: [item("q", 1)] }],
    [
      { keyed: [item("p", 1, { zone: "eu" }), item("p", 1)] },
      { keyed: [item("p", 2, { zone: "eu" })] },
      {
        keyed: [
          { name: "p", zone: "eu", image: { x: 2 } },
          { name: "p", $delete: true },
        ],
      },
    ],
    [{ keyed: [item("p", 1)] }, { keyed: ["p"] }, { keyed: { $replace: ["p"] } }],
    [{ keyed: ["p"] }, { keyed: [item("p", 1)] }, { keyed: { $replace: [item("p", 1)] } }],
    [{ keyed: [item("p", 1), item("p", 2)] }, { keyed: [item("p", 3)] }, { keyed: { $replace: [item("p", 3)] } }],
    [
      { keyed: [item("p", 1)] },
      { keyed: [item("p", 2), item("p", 3)] },
      { keyed: { $replace: [item("p", 2), item("p", 3)] } },
    ],
  ])("that makes of %j %j is %j", (before, after, patch) => {
    expect(patchBetween(SHAPE, before, after)).toEqual(patch);
  });
});

test.each<[JsonObject, JsonObject, JsonObject]>([
  [{ a: 1 }, { image: { x: 1 } }, { a: 1, image: { x: 1 } }],
  [{ a: 1 }, { a: null }, { a: null }],
  [{ a: null }, { a: { x: 1 } }, { a: { x: 1 } }],
  [{ a: 1 }, { a: { x: 1 } }, { a: { x: 1 } }],
  [{ image: { x: 1, y: 1 } }, { image: { x: 2 } }, { image: { x: 2, y: 1 } }],
  [{ image: { x: 1 } }, { image: 1 }, { image: 1 }],
  [{ keyed: [{ name: "p", image: { x: 1 } }] }, { keyed: { $replace: [] } }, { keyed: { $replace: [] } }],
  [{ keyed: { $replace: [] } }, { keyed: { $replace: [{ name: "p" }] } }, { keyed: { $replace: [{ name: "p" }] } }],
  [
    { keyed: { $replace: [{ name: "p" }] } },
    { keyed: [{ name: "q" }] },
    { keyed: { $replace: [{ name: "p" }, { name: "q" }] } },
  ],
  [{ keyed: {} }, { keyed: [{ name: "q" }] }, { keyed: { $replace: [{ name: "q" }] } }],
  [{ keyed: 1 }, { keyed: [{ name: "q" }] }, { keyed: [{ name: "q" }] }],
  [
    { keyed: [{ name: "p", image: { x: 1 } }, { name: "r" }] },
    { keyed: [{ name: "q" }, { name: "p", image: { y: 2 } }] },
    { keyed: [{ name: "p", image: { x: 1, y: 2 } }, { name: "r" }, { name: "q" }] },
  ],
  [
    { keyed: [{ name: "p", image: {} }] },
    { keyed: [{ name: "p", $delete: true }] },
    { keyed: [{ name: "p", $delete: true }] },
  ],
  [
    { keyed: [{ name: "p", $delete: true }] },
    { keyed: [{ name: "p", image: {} }] },
    { keyed: [{ name: "p", image: {} }] },
  ],
])("the patches %j and %j are %j in one", (first, second, combined) => {
  expect(combinedPatch(SHAPE, first, second)).toEqual(combined);
});

test.each<[JsonObject, JsonObject, JsonObject, JsonObject]>([
  [{ a: 1, b: 2 }, { a: 3 }, { a: 1 }, { b: 2 }],
  [{ a: null }, { a: 3 }, { a: null }, {}],
  [{ image: { x: 1, y: 2 } }, { image: { x: 3 } }, { image: { x: 1 } }, { image: { y: 2 } }],
  [{ image: { x: 1 } }, { image: { x: 3 } }, { image: { x: 1 } }, {}],
  [{ image: { y: 1 } }, { image: { x: 3 } }, {}, { image: { y: 1 } }],
  [{ image: 1 }, { image: { x: 3 } }, { image: 1 }, {}],
  [{ image: { x: 1 } }, { image: 3 }, { image: { x: 1 } }, {}],
  [{ keyed: { $replace: [] } }, { keyed: { x: 3 } }, { keyed: { $replace: [] } }, {}],
  [{ keyed: { x: 1 } }, { keyed: { $replace: [] } }, { keyed: { x: 1 } }, {}],
])("of the patch %j, one of %j sets %j, and not %j", (patch, by, inside, rest) => {
  expect(splitPatch(patch, by)).toEqual({ inside, rest });
});

test("a document that cannot be read, or matches others, stays as it is with all before it", () => {
  const unread = { match: ID, patch: null };
  const { edits, added } = changed({ a: 1 }, { a: 2 }, [own({ a: 1 }), unread]);
  expect([edits.size, added]).toEqual([0, { a: 2 }]);
  expect(changed({ a: 1 }, { a: 1 }, [own({ a: 1 })])).toMatchObject({ added: null, edits: new Map() });
  const after = own({ image: { x: 1 } });
  expect([...changed({ a: 1 }, { a: 2 }, [unread, after]).edits]).toEqual([[after, { image: { x: 1 }, a: 2 }]]);
});
