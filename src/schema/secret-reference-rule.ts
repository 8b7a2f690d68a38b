import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

/** References to secrets in environment and values have all three parts. */
export function secretReferenceForms({ env, values }: JsonObject): readonly SchemaDiagnostic[] {
  return [...wrongForms(env, "/env"), ...wrongForms(values, "/values")];
}

const REFERENCE = /\b(?:[a-z][a-z0-9+.]*-)?secret:\/\//g;
const PARTS = /^[A-Za-z0-9_.-]{1,128}:[A-Za-z0-9_.-]{1,128}:[A-Za-z0-9_.-]{1,128}/;

function wrongForms(value: Json | undefined, pointer: string): readonly SchemaDiagnostic[] {
  if (typeof value === "string") {
    if (!value.includes("secret://")) return [];
    const isWrong = value
      .matchAll(REFERENCE)
      .some(({ 0: scheme, index }) => !PARTS.test(value.slice(index + scheme.length)));
    return isWrong ? [error(pointer, "invalid-form", "a reference to a secret without its three parts", FORM)] : [];
  }
  if (Array.isArray(value)) return value.flatMap((item: Json, at) => wrongForms(item, `${pointer}/${at}`));
  if (!isObject(value)) return [];
  const found: SchemaDiagnostic[] = [];
  for (const name in value) {
    const item = value[name];
    // Most texts refer to nothing: a pointer is created only for the others.
    if (typeof item === "string" ? item.includes("secret://") : typeof item === "object" && item !== null)
      found.push(...wrongForms(item, `${pointer}/${escapePointer(name)}`));
  }
  return found;
}

const FORM = "Write secret://tenant:group:key.";
