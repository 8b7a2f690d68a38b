// src/core/diff: the differences of a resource, with their causes. See docs/architecture.md#whose-change-it-is.

import type { Cause, Change } from "../../contract/generated/output.ts";
import type { Json } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { type FieldDifference, labelOf, redactedSides } from "../../model/differences.ts";
import { pointerIn, redactPointer } from "./pointer.ts";
import { textDiff } from "./text-diff.ts";

/** The two sides of a difference, not normalised; paths point into them. */
export type Sides = {
  readonly shape: Shape;
  readonly manifest: Json | undefined;
  readonly live: Json | undefined;
};

/** A difference as reports show it: possible secrets are masked. */
export function changeOf(difference: FieldDifference, cause: Cause, { shape, manifest, live }: Sides): Change {
  const { tokens, after } = difference;
  const { before: was, after: is } = redactedSides(difference);
  return {
    // A removed field exists only in live.
    path: redactPointer(pointerIn(shape, after === undefined ? [live, manifest] : [manifest, live], tokens)),
    label: labelOf(shape, tokens),
    before: was,
    after: is,
    cause,
    diff: textDiff(was, is),
  };
}
