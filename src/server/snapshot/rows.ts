import type { Transaction } from "kysely";
import type { Subject } from "../../contract/generated/resources.ts";
import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import { type Context, timestamp } from "../context.ts";
import { markChanged } from "../database/digests.ts";
import { toText } from "../database/json-text.ts";
import type { Tables } from "../database/tables.ts";
import { type DeclaredKind, saveDeclared } from "../manifest/put-declared.ts";
import { type CopyOutcome, notCopied } from "./snapshot-part.ts";

/** Reads the common fields of a row, in camelCase or snake_case; missing timestamps become `now`. */
export function readRowFields(
  row: JsonObject,
  now: string,
): {
  readonly id: string | null;
  readonly manifest: JsonObject;
  readonly subject: Subject;
  readonly createdAt: string;
  readonly updatedAt: string;
} {
  const createdAt = readTimestamp(row.createdAt ?? row.created_at) ?? now;
  return {
    id: text(row.id) || null,
    manifest: isObject(row.manifest) ? row.manifest : {},
    subject: readSubject(row.createdBySubject ?? row.created_by_subject),
    createdAt,
    updatedAt: readTimestamp(row.updatedAt ?? row.updated_at) ?? createdAt,
  };
}

/** A timestamp in normalised ISO 8601, so that they sort as text; null when it is invalid. */
export function readTimestamp(value: Json | undefined): string | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** A version number, from 1; null when it is invalid. */
export function readVersionNumber(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** The objects in a list; empty when it is no list. */
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

/** Copies resources of a declared kind; `naming` are the fields that form its name. */
export function copyDeclared<Resource extends { readonly manifest: JsonObject }>(
  kind: DeclaredKind<Resource>,
  naming: readonly string[] = ["name"],
) {
  return async (transaction: Transaction<Tables>, row: JsonObject, context: Context): Promise<CopyOutcome> => {
    const { id, manifest, ...facts } = readRowFields(row, timestamp(context));
    const { type } = manifest;
    if (typeof type !== "string" || !kind.types.includes(type)) return notCopied("it has no manifest of its kind");
    if (!naming.every((field) => text(manifest[field]))) return notCopied("its manifest lacks its name");
    if ((await kind.find(transaction, kind.keyOf(manifest))) !== null) return { result: "exists" };
    const resource = kind.make({ manifest, existing: null, ...facts }, () => id ?? context.newId());
    const identity = await saveDeclared(transaction, kind, resource, toText(resource));
    await markChanged(transaction, identity, context);
    return { result: "copied", resource: identity };
  };
}
