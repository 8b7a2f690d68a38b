import type { Json, JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import type { Kind } from "./kind.ts";
import { normalise } from "./normalise.ts";

/** What of a manifest is compared, in normal form: a version's number is part of its identity, not of its content. */
export function contentOf(kind: Kind, shape: Shape, manifest: JsonObject | undefined): Json | undefined {
  return normalise(shape, manifest === undefined ? undefined : withoutVersion(kind, manifest));
}

/** What of a manifest is compared, as it stands. */
export function withoutVersion({ versions }: Kind, manifest: JsonObject): JsonObject {
  if (versions === undefined) return manifest;
  const { version: _, ...rest } = manifest;
  return rest;
}
