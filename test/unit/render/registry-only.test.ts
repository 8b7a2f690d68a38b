import { expect, test } from "vitest";
import { registryOnlyOf } from "../../../src/core/plan/registry-only.ts";
import { plain } from "../../../src/render/paint.ts";
import { registryOnlyLines } from "../../../src/render/registry-only.ts";

const versions = (kind: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${kind}/registry/name@${count - at}`);
const linesOf = (kinds: Parameters<typeof registryOnlyLines>[0]) =>
  registryOnlyLines(kinds, { paint: plain, width: 80 });

test("three versions of a kind are named, and all are counted", () => {
  const found = registryOnlyOf("model-version", versions("model-version", 12), new Set());
  expect(found).toMatchObject({ count: 12 });
  expect(found?.identities).toEqual(versions("model-version", 10).toReversed());
  expect(linesOf(found === null ? [] : [found])).toEqual([
    "Held by the registry alone: no manifest declares it; Holdfast never deletes",
    "  12 model-version: registry/name@1, registry/name@2, registry/name@3, …",
  ]);
});

test("a kind that could not be listed is not called empty", () => {
  const found = registryOnlyOf("chat_prompt", null, new Set());
  expect(found).toEqual({ kind: "chat_prompt", count: null, identities: [] });
  expect(linesOf(found === null ? [] : [found])[1]).toBe("  chat_prompt: not known, since they could not be listed");
});

test("nothing is said where there is nothing", () => {
  expect(linesOf([])).toEqual([]);
});
