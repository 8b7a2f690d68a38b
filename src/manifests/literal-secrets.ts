import { isObject, type Json } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import { isSecretKey } from "../core/redact/sensitive-fields.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../model/credential.ts";
import { oncePer } from "../model/once.ts";

/** A secret that stands in a manifest as it is, and where. */
export type Literal = { readonly pointer: string; readonly is: "credential" | "secret-looking" };

/**
 * Every secret written out in a manifest: under a telling key in a field whose inside is the user's and, where asked
 * for, in a known credential format anywhere.
 */
export function literalSecrets(shape: Shape, value: Json, wantsCredentials: boolean): readonly Literal[] {
  const search: Search = { wantsCredentials, found: [] };
  look(search, shape, value, { name: "", above: null, isSecret: false });
  return search.found;
}

type Search = { readonly wantsCredentials: boolean; readonly found: Literal[] };

/** The way to a value; a pointer is made of it only where something is found. */
type Place = { readonly name: string; readonly above: Place | null; readonly isSecret: boolean };

// A variable that somebody else fills in.
const VARIABLE = /^\$\{?\w+\}?$/;
// Where a secret is to be found, such as `gcp.json`.
const FILE_NAME = /^[\w./-]{1,256}\.(?:json|ya?ml|pem|key|crt|p12|toml|ini|conf|txt)$/;
const OPEN: Shape = { is: "free" };

function look(search: Search, shape: Shape, value: Json, place: Place): void {
  if (typeof value === "string") {
    const is = textKind(search, value, place.isSecret);
    if (is !== null) search.found.push({ pointer: pointerOf(place), is });
  } else if (isObject(value)) {
    if (shape.is === "object") lookInKnown(search, shape, value, place);
    else lookInFree(search, value, place);
  } else if (typeof value === "object" && value !== null) {
    const items = shape.is === "list" ? shape.items : OPEN;
    for (const [index, item] of value.entries()) {
      look(search, items, item, { ...place, name: String(index), above: place });
    }
  }
}

// Most of a manifest is described by its schema and holds no field of the user's own: it need not be walked through.
function lookInKnown(search: Search, shape: Known, value: Fields, above: Place): void {
  for (const name of search.wantsCredentials ? Object.keys(value) : openFields(shape)) {
    const field = Object.hasOwn(value, name) ? value[name] : undefined;
    const inner = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (field !== undefined) look(search, inner ?? OPEN, field, { name, above, isSecret: false });
  }
}

function lookInFree(search: Search, value: Fields, above: Place): void {
  for (const name in value) {
    const field = value[name];
    if (typeof field !== "string" && !isNested(field)) continue;
    const isSecret = isSecretKey(name);
    // Hardly any text is worth a place.
    if (typeof field === "string" && textKind(search, field, isSecret) === null) continue;
    look(search, OPEN, field, { name, above, isSecret });
  }
}

function isNested(value: Json | undefined): value is Extract<Json, object> {
  return typeof value === "object" && value !== null;
}

type Known = Extract<Shape, { is: "object" }>;
type Fields = { readonly [name: string]: Json };

/** The fields of an object in or under which something belongs to the user. */
const openFields = oncePer((shape: Known): readonly string[] =>
  Object.entries(shape.fields).flatMap(([name, field]) => (isOpen(field) ? [name] : [])),
);

function isOpen(shape: Shape): boolean {
  if (shape.is === "free") return true;
  if (shape.is === "list") return isOpen(shape.items);
  return shape.is === "object" && openFields(shape).length > 0;
}

function textKind({ wantsCredentials }: Search, value: string, isSecret: boolean): Literal["is"] | null {
  if (wantsCredentials && value.length >= SHORTEST_CREDENTIAL && isCredential(value)) return "credential";
  if (!isSecret || value === "" || value.includes("secret://") || VARIABLE.test(value) || FILE_NAME.test(value))
    return null;
  return "secret-looking";
}

function pointerOf({ name, above }: Place): string {
  return above === null ? "" : `${pointerOf(above)}/${escapePointer(name)}`;
}
