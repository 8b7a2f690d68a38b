import type { Json, JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import { RESOLVED_FIELDS } from "../contract/secret-references.ts";
import { error, MAX_SCHEMA_DIAGNOSTICS, type SchemaDiagnostic } from "./schema-diagnostic.ts";

/**
 * References to secrets have all three parts: in environment and values also those within a longer text, elsewhere those
 * that are a whole text. At most 100 results.
 */
export function secretReferenceForms(manifest: JsonObject): readonly SchemaDiagnostic[] {
  const found: SchemaDiagnostic[] = [];
  addWrongForms(found, manifest, { pointer: "", isResolved: false });
  return found.slice(0, MAX_SCHEMA_DIAGNOSTICS);
}

/** Whether a manifest's text may have such a reference without its parts. An escape may stand for any character. */
export function mayLackParts(text: string): boolean {
  return LACKING.test(text) || text.includes("\\");
}

const PART = "[A-Za-z0-9_.-]{1,128}";
const LACKING = new RegExp(`secret://(?!${PART}:${PART}:${PART})`);
const NOTHING_ELSE = new RegExp(`^secret://${PART}:${PART}:${PART}$`);
const REFERENCE = /\b(?:[a-z][a-z0-9+.]*-)?secret:\/\//g;
const WHOLE = /^(?:[a-z][a-z0-9+.]*-)?secret:\/\/\S*$/;
const PARTS = new RegExp(`^${PART}:${PART}:${PART}`);

/** A place in a manifest, and whether references within its texts are resolved. */
type Place = { readonly pointer: string; readonly isResolved: boolean };

function addWrongForms(found: SchemaDiagnostic[], value: JsonObject | readonly Json[], above: Place): void {
  for (const [name, item] of Object.entries<Json>(value)) {
    const place = placeIn(above, name);
    if (typeof item === "object" && item !== null) addWrongForms(found, item, place);
    else if (typeof item === "string" && hasWrongForm(item, place.isResolved))
      found.push(error(place.pointer, "invalid-form", WRONG, FORM));
  }
}

function placeIn({ pointer, isResolved }: Place, name: string): Place {
  return { pointer: `${pointer}/${escapePointer(name)}`, isResolved: isResolved || RESOLVED_FIELDS.has(name) };
}

function hasWrongForm(value: string, isResolved: boolean): boolean {
  if (NOTHING_ELSE.test(value) || !(isResolved || WHOLE.test(value))) return false;
  return value.matchAll(REFERENCE).some(({ 0: scheme, index }) => !PARTS.test(value.slice(index + scheme.length)));
}

const WRONG = "a reference to a secret without its three parts";

const FORM = "Write secret://tenant:group:key.";
