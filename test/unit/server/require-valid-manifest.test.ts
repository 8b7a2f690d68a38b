import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { requireValidManifest } from "../../../src/server/manifest/require-valid-manifest.ts";

function pointersOf(manifest: JsonObject): readonly string[] {
  try {
    requireValidManifest({ unknownFields: "refuse" }, ["team", "sso-team"], manifest);
    return [];
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return error.details.map(({ pointer }) => pointer);
  }
}

test("an empty manifest is refused for its missing name too, not for its type alone", () => {
  expect(pointersOf({})).toEqual(["/type", "/name"]);
  expect(pointersOf({ type: "cluster", name: null })).toEqual(["/type", "/name"]);
  expect(pointersOf({ name: "ml" })).toEqual(["/type"]);
  expect(pointersOf({ type: "sso-team", name: "ml" })).toEqual([]);
});
