// src/core/diff: the differences of a resource, with their causes. See docs/architecture.md#whose-change-it-is.

import type { Cause, Change } from "../../contract/generated/output.ts";
import { equal, type Json } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { redactName } from "../../model/connection-secret.ts";
import { CHANGED_MASK, MASK } from "../../model/credential.ts";
import { fieldShape } from "../../model/normal-form.ts";
import { redactValue } from "../redact/sensitive-fields.ts";
import type { FieldDifference } from "./differences.ts";
import { pointerIn, redactPointer } from "./pointer.ts";
import { textDiff } from "./text-diff.ts";

/** The two sides of a difference, not normalised; paths point into them. */
export type Sides = {
  readonly shape: Shape;
  readonly manifest: Json | undefined;
  readonly live: Json | undefined;
};

/**
 * A difference as reports show it: possible secrets are masked. Within a list or an object, `after` marks those that
 * differ, because both sides would look equal otherwise.
 */
export function changeOf(
  { tokens, before, after, sensitive }: FieldDifference,
  cause: Cause,
  { shape, manifest, live }: Sides,
): Change {
  const was = redactValue(before, sensitive);
  const is = redactValue(after, sensitive, (hidden, other) => markChanged(hidden, other, after), before);
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

// A difference that is itself a secret needs no mark.
function markChanged(hidden: Json, other: Json | undefined, whole: Json | undefined): Json {
  return hidden === whole || other === undefined || equal(hidden, other) ? MASK : CHANGED_MASK;
}

/**
 * A field's display name, such as `image.image_uri`, its secrets masked; items of a keyed list are named by their key, as in
 * `ports[8080:TCP].host`.
 */
export function labelOf(shape: Shape, tokens: readonly string[]): string {
  let label = "";
  let at = shape;
  for (const token of tokens) {
    const shown = redactName(token);
    if (at.is === "list") {
      label += `[${shown}]`;
      at = at.items;
    } else {
      label += name(shown, label === "");
      at = fieldShape(at, token);
    }
  }
  return label;
}

function name(token: string, isFirst: boolean): string {
  if (!/^[\w-]+$/.test(token)) return `[${JSON.stringify(token)}]`;
  return isFirst ? token : `.${token}`;
}
