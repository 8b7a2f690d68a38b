import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

/** References to secrets in environment and values have all three parts. */
export function secretReferenceForms({ env, values }: JsonObject): readonly SchemaDiagnostic[] {
  const found: SchemaDiagnostic[] = [];
  addWrongForms(found, env, "/env");
  addWrongForms(found, values, "/values");
  return found;
}

const PART = "[A-Za-z0-9_.-]{1,128}";
const NOTHING_ELSE = new RegExp(`^secret://${PART}:${PART}:${PART}$`);
const REFERENCE = /\b(?:[a-z][a-z0-9+.]*-)?secret:\/\//g;
const PARTS = new RegExp(`^${PART}:${PART}:${PART}`);

function addWrongForms(found: SchemaDiagnostic[], value: Json | undefined, pointer: string): void {
  if (typeof value === "string") {
    if (hasWrongForm(value)) found.push(error(pointer, "invalid-form", WRONG, FORM));
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) addWrongForms(found, item, `${pointer}/${at}`);
  } else if (isObject(value)) {
    for (const name in value) {
      const item = value[name];
      // Most texts refer to nothing: a pointer is created only for the others.
      if (typeof item === "string" ? hasWrongForm(item) : typeof item === "object" && item !== null)
        addWrongForms(found, item, `${pointer}/${escapePointer(name)}`);
    }
  }
}

function hasWrongForm(value: string): boolean {
  if (!value.includes("secret://") || NOTHING_ELSE.test(value)) return false;
  return value.matchAll(REFERENCE).some(({ 0: scheme, index }) => !PARTS.test(value.slice(index + scheme.length)));
}

const WRONG = "a reference to a secret without its three parts";

const FORM = "Write secret://tenant:group:key.";
