import { equal, type Json, type JsonObject } from "../../contract/json.ts";
import { differences } from "../../model/differences.ts";
import { normalise } from "../../model/normal-form.ts";
import type { Kind } from "../kind.ts";

/** The compared part of a manifest, normalised: a version number belongs to the identity, not to the content. */
export function contentOf(kind: Kind, manifest: JsonObject | undefined): Json | undefined {
  return normalise(kind.shape, manifest === undefined ? undefined : withoutVersion(kind, manifest));
}

/** The compared part of a manifest, not normalised. */
export function withoutVersion({ hasVersions }: Kind, manifest: JsonObject): JsonObject {
  if (!hasVersions) return manifest;
  const { version: _, ...rest } = manifest;
  return rest;
}

/** Whether live contains everything that was sent; additions by the server are ignored. */
export function hasContentOf(kind: Kind, written: JsonObject, live: JsonObject): boolean {
  const [sent, found] = [contentOf(kind, written), contentOf(kind, live)];
  if (equal(sent, found)) return true;
  return differences(kind.shape, sent, found).every(({ before }) => before === undefined);
}
