import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import {
  addsValue,
  hasUncompared,
  isValuePath,
  NOT_COMPARED,
  replaceValues,
  valuesIn,
} from "../../../src/core/referenced-values.ts";
import { kindOf } from "../../../src/kinds/index.ts";

describe("values that a manifest names", () => {
  const [group, team] = ["secret-group", "team"].map((type) => kindOf(type));
  if (group === undefined || team === undefined) throw new TypeError("no kinds");
  const manifest = {
    type: "secret-group",
    name: "db",
    secrets: [{ key: "a", value: "x" }, { key: "b" }, "odd", { value: "y" }],
  };

  test("are read with their places", () => {
    expect(valuesIn(group, manifest)).toEqual([
      { name: "a", reference: "x", pointer: "/secrets/0/value" },
      { name: "b", reference: null, pointer: "/secrets/1/value" },
    ]);
    expect([valuesIn(team, manifest), valuesIn(group, { secrets: null })]).toEqual([[], []]);
  });

  test("are replaced, or left out with their items", () => {
    const replaced = (replace: (name: string, value: Json) => Json | undefined) =>
      replaceValues(group, manifest, replace);
    expect(replaced((name, value) => `${name}=${value}`)).toEqual({
      ...manifest,
      secrets: [{ key: "a", value: "a=x" }, { key: "b", value: "b=null" }, "odd", { value: "y" }],
    });
    expect(replaced((name) => (name === "a" ? undefined : "z"))).toMatchObject({
      secrets: [{ key: "b", value: "z" }, "odd", { value: "y" }],
    });
    expect(replaceValues(team, manifest, () => "z")).toBe(manifest);
    const none: JsonObject = { secrets: null };
    expect(replaceValues(group, none, () => "z")).toBe(none);
  });

  test.each<[readonly string[], boolean]>([
    [["secrets", "a", "value"], true],
    [["secrets", "a", "key"], false],
    [["secrets", "a"], false],
    [["others", "a", "value"], false],
    [["secrets", "a", "value", "x"], false],
  ])("have paths: %j is %s", (tokens, is) => {
    expect([isValuePath(group, tokens), isValuePath(team, tokens)]).toEqual([is, false]);
    expect(addsValue(group, [{ tokens, before: undefined }])).toBe(is);
    expect(addsValue(group, [{ tokens, before: "x" }])).toBe(false);
  });

  test("may not be compared", () => {
    expect(
      hasUncompared(group, {
        secrets: [
          { key: "a", value: "x" },
          { key: "b", value: NOT_COMPARED },
        ],
      }),
    ).toBe(true);
    expect(hasUncompared(group, manifest)).toBe(false);
  });
});
