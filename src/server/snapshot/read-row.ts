import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import type { Subject } from "../../contract/resources.ts";

/** What a row of another control plane says of itself, whatever it is. */
export type RowFields = {
  readonly id: string | null;
  readonly manifest: JsonObject;
  readonly subject: Subject;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Reads what all rows have, in either family's spelling; `now` stands in for moments that are missing. */
export function readRowFields(row: JsonObject, now: string): RowFields {
  const createdAt = readTimestamp(row.createdAt ?? row.created_at) ?? now;
  return {
    id: text(row.id) || null,
    manifest: isObject(row.manifest) ? row.manifest : {},
    subject: readSubject(row.createdBySubject ?? row.created_by_subject),
    createdAt,
    updatedAt: readTimestamp(row.updatedAt ?? row.updated_at) ?? createdAt,
  };
}

/** A moment in our own spelling, in which all have one order; null when it is none. */
export function readTimestamp(value: Json | undefined): string | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** A whole number from 1; null when it is none. */
export function readVersionNumber(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** The objects of a list; none when it is no list. */
export function readObjects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item: Json) => isObject(item)) : [];
}

function readSubject(value: Json | undefined): Subject {
  const subject = isObject(value) ? value : {};
  const id = text(subject.subjectId) ?? "unknown";
  const slug = text(subject.subjectSlug) ?? id;
  return {
    subjectId: id,
    subjectType: text(subject.subjectType) ?? "user",
    subjectSlug: slug,
    subjectDisplayName: text(subject.subjectDisplayName) ?? slug,
  };
}
