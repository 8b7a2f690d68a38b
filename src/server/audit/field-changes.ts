import { shapes } from "../../contract/generated/shapes.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import { differences, labelOf, redactedSides } from "../../model/differences.ts";
import { normalise } from "../../model/normal-form.ts";
import type { AuditDetails } from "./entry.ts";

/** Which fields a write has changed, or that it made the resource. */
export type FieldChanges = Pick<AuditDetails, "isNew" | "changes" | "moreChanges">;

const MAX_CHANGES = 50;
const MAX_VALUE_LENGTH = 200;

/** A manifest before and after a write; `before` is null for a new resource. */
export type ChangedManifest = { readonly before: JsonObject | null; readonly after: JsonObject };

/** The fields in which two manifests differ, as plans show them. */
export function fieldChanges({ before, after }: ChangedManifest): FieldChanges {
  if (before === null) return { isNew: true };
  const { type } = after;
  const shape = (typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined) ?? { is: "free" };
  const all = differences(shape, normalise(shape, before, "content"), normalise(shape, after, "content"));
  const changes = all.slice(0, MAX_CHANGES).map((difference) => {
    const sides = redactedSides(difference);
    return {
      field: shortText(labelOf(shape, difference.tokens)),
      ...(difference.before !== undefined && { before: shortValue(sides.before) }),
      ...(difference.after !== undefined && { after: shortValue(sides.after) }),
    };
  });
  return { changes, ...(all.length > MAX_CHANGES && { moreChanges: all.length - MAX_CHANGES }) };
}

function shortValue(value: Json): Json {
  if (typeof value === "string") return shortText(value);
  return value !== null && typeof value === "object" ? shortObject(value) : value;
}

function shortObject(value: Json): Json {
  const written = JSON.stringify(value);
  return written.length > MAX_VALUE_LENGTH ? shortText(written) : value;
}

function shortText(text: string): string {
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}
