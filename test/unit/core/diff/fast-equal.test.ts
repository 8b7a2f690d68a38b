import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equal, type Json, type JsonObject } from "../../../../src/contract/json.ts";
import { fillDefaults, type Shape } from "../../../../src/contract/manifest-shape.ts";
import { withDefaults } from "../../../../src/core/diff/expected-live.ts";
import { fastEqual } from "../../../../src/core/diff/fast-equal.ts";
import { normalise } from "../../../../src/model/normal-form.ts";
import { reversed, service, shapeOf } from "../given.ts";

const serviceShape = shapeOf("service");
const scalar = fc.oneof(fc.constantFrom<Json>(null, 0, 1, "", "1", "a", true, false), fc.constantFrom<Json>([], {}));

describe("what one walk tells", () => {
  test("a manifest and its echo with every default filled in", () => {
    const desired = service({ env: { A: 1 }, ports: [{ port: 80 }], liveness_probe: { config: { type: "http" } } });
    const live = fillDefaults(serviceShape, { ...desired, env: { A: "1" } });
    expect(fastEqual(serviceShape, desired, reversed(live))).toBe(true);
  });

  test("a changed default is a difference", () => {
    const desired = service({ ports: [{ port: 80 }] });
    const live = { ...(fillDefaults(serviceShape, desired) as JsonObject), allow_interception: true };
    expect(fastEqual(serviceShape, desired, live)).toBe(false);
  });

  test("a field that means nothing gets no defaults, and is left to the normal forms", () => {
    const desired = service({ liveness_probe: { config: {} } });
    const live = fillDefaults(serviceShape, service({ liveness_probe: { config: {} } }));
    expect(fastEqual(serviceShape, desired, live)).toBe(false);
  });
});

describe("a manifest and live at a glance", () => {
  const value: Shape = { is: "value" };
  const object: Shape = { is: "object", fields: { a: value, b: { is: "value", default: 1 } } };
  const texts: Shape = { is: "free", asText: true };
  const list: Shape = { is: "list", items: object };

  test.each<[Shape, Json, Json, boolean]>([
    [object, { a: 1 }, { a: 1, b: 1 }, true],
    [object, { a: 1, b: 1 }, { b: 1, a: 1 }, true],
    [object, { a: 1 }, { a: 1, b: 1, c: null }, true],
    [object, { a: 1, c: { d: 1 } }, { a: 1, b: 1, c: { d: 1 } }, true],
    [object, { a: 1 }, { a: 1 }, false],
    [object, { a: 1 }, { a: 1, b: 2 }, false],
    [object, { a: 1 }, { a: 1, b: 1, c: 2 }, false],
    [object, { a: 1, c: 2 }, { a: 1, b: 1 }, false],
    [object, { a: 1, c: { d: 1 } }, { a: 1, b: 1, c: { d: 2 } }, false],
    [object, { a: {} }, { a: {}, b: 1 }, false],
    [object, { a: { c: 1 } }, { a: { c: 1 }, b: 1 }, false],
    [object, {}, { b: 1 }, false],
    [
      list,
      [{ a: 1 }, { a: 2 }],
      [
        { a: 1, b: 1 },
        { a: 2, b: 1 },
      ],
      true,
    ],
    [
      list,
      [{ a: 1 }, { a: 2 }],
      [
        { a: 2, b: 1 },
        { a: 1, b: 1 },
      ],
      false,
    ],
    [
      list,
      [{ a: 1 }],
      [
        { a: 1, b: 1 },
        { a: 2, b: 1 },
      ],
      false,
    ],
    [list, [], [], false],
    [texts, { a: 1, b: "x" }, { a: "1", b: "x" }, true],
    [texts, { a: 1, b: { c: 1 } }, { a: 1, b: { c: 1 } }, true],
    [texts, { a: 1 }, { a: 2 }, false],
    [texts, { a: 1 }, { a: 1, b: 2 }, false],
    [texts, { a: 1, b: 2 }, { a: 1, c: 2 }, false],
    [texts, { a: { c: 1 } }, { a: { c: "1" } }, false],
    [texts, { a: { c: 1 } }, { a: "[object Object]" }, false],
    [texts, { a: "1" }, { a: [1] }, false],
    [texts, { a: null }, { a: null }, false],
    [{ is: "free" }, { a: null }, { a: null }, true],
    [{ is: "free" }, { a: 1 }, { a: "1" }, false],
    [{ is: "free" }, ["a"], ["a"], true],
    [value, "a", "a", true],
    [value, { a: 1 }, { a: 1 }, false],
    [value, null, null, false],
  ])("%#: %j of %j and %j", (shape, desired, live, isEqual) => {
    expect(fastEqual(shape, desired, live)).toBe(isEqual);
  });
});

/** A shape with or without a default. */
const withDefault = (shape: fc.Arbitrary<Shape>, defaults: fc.Arbitrary<Json>): fc.Arbitrary<Shape> =>
  fc.oneof(
    shape,
    fc.tuple(shape, defaults).map(([given, value]) => ({ ...given, default: value })),
  );

const shape = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    withDefault(fc.constantFrom<Shape>({ is: "value" }, { is: "free" }, { is: "free", asText: true }), scalar),
    withDefault(
      fc
        .tuple(tie("shape"), fc.constantFrom(undefined, [], ["a"]))
        .map(([items, key]): Shape => (key === undefined ? { is: "list", items } : { is: "list", items, key })),
      fc.constant([]),
    ),
    withDefault(
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("shape")).map((fields): Shape => ({ is: "object", fields })),
      fc.constantFrom<Json>({}, { a: 1 }, { b: { c: 1 } }),
    ),
  ),
})).shape;

const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value")),
  ),
})).value;

/** Live that is mostly what a control plane would make of the manifest. */
const echo = (given: Shape, desired: Json): fc.Arbitrary<Json> =>
  fc.oneof(
    fc.constant(fillDefaults(given, desired)),
    fc.constant(normalise(given, desired) ?? null),
    fc.constant(withDefaults(given, normalise(given, desired)) ?? null),
    fc.constant(desired),
    value,
  );

test("what is alike has the same normal form with its defaults filled in", () => {
  const cases = fc
    .tuple(shape, value)
    .chain(([given, desired]) => fc.tuple(fc.constant(given), fc.constant(desired), echo(given, desired)));
  let found = 0;
  fc.assert(
    fc.property(cases, ([given, desired, live]) => {
      if (!fastEqual(given, desired, live)) return;
      found += 1;
      expect(equal(withDefaults(given, normalise(given, desired)), normalise(given, live))).toBe(true);
    }),
    { numRuns: 3000 },
  );
  expect(found).toBeGreaterThan(100);
});
