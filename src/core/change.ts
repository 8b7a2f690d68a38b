import type { Cause, Change } from "../contract/generated/output.ts";
import type { Json } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import type { FieldDifference } from "./diff.ts";
import { labelOf } from "./label.ts";
import { pointerIn } from "./pointer.ts";
import { redactValue } from "./sensitive.ts";
import { textDiff } from "./text-diff.ts";

/** The two sides of a difference as they are written: paths point into them. */
export type Sides = {
  readonly shape: Shape;
  readonly manifest: Json | undefined;
  readonly live: Json | undefined;
};

/** A difference as reports show it: values that could be secrets are masked. */
export function changeOf(
  { tokens, before, after, sensitive }: FieldDifference,
  cause: Cause,
  { shape, manifest, live }: Sides,
): Change {
  const [was, is] = [redactValue(before, sensitive), redactValue(after, sensitive)];
  return {
    // What is removed stands in live alone.
    path: pointerIn(shape, after === undefined ? [live, manifest] : [manifest, live], tokens),
    label: labelOf(shape, tokens),
    before: was,
    after: is,
    cause,
    diff: textDiff(was, is),
  };
}
