import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/contract/json.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { type MatchingPatch, patchChanges } from "../../../../src/core/patch/document-changes.ts";
import { mergePatch } from "../../../../src/core/patch/merge-patch.ts";
import { UNPATCHED } from "../../../../src/core/patch/origin.ts";
import { patchBetween } from "../../../../src/core/patch/patch-between.ts";

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
