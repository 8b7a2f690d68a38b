import { isObject, type Json } from "../contract/json.ts";
import { escapePointer } from "../contract/reference.ts";
import type { Shape } from "../contract/shape.ts";
import { isCredential, isSecretKey } from "../core/sensitive.ts";

/** A secret that stands in a manifest as it is, and where. */
export type Literal = { readonly pointer: string; readonly is: "credential" | "secret-looking" };

// No known credential is shorter, and most values are.
const SHORTEST_CREDENTIAL = 20;
// A variable that somebody else fills in.
const REFERENCE = /^\$\{?\w+\}?$/;
const OPEN: Shape = { is: "free" };

/** Every literal secret in a manifest: in a known credential format anywhere, or under a telling key in a free field. */
export function literalSecrets(shape: Shape, value: Json): readonly Literal[] {
  const found: Literal[] = [];
  search(shape, value, { name: "", above: null, isSecret: false }, found);
  return found;
}

/** The way to a value; a pointer is made of it only where something is found. */
type Place = { readonly name: string; readonly above: Place | null; readonly isSecret: boolean };

function search(shape: Shape, value: Json, place: Place, found: Literal[]): void {
  if (typeof value === "string") {
    const is = kindOfText(value, place.isSecret);
    if (is !== null) found.push({ pointer: pointerOf(place), is });
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) searchField(shape, value[name] ?? null, name, place, found);
  } else if (typeof value === "object" && value !== null) {
    const items = shape.is === "list" ? shape.items : OPEN;
    for (const [index, item] of value.entries())
      search(items, item, { ...place, name: String(index), above: place }, found);
  }
}

function searchField(shape: Shape, field: Json, name: string, above: Place, found: Literal[]): void {
  const isSecret = shape.is !== "object" && isSecretKey(name);
  const isText = typeof field === "string";
  // Most fields are numbers and short texts, with nothing to look for.
  if (isText ? field.length < SHORTEST_CREDENTIAL && !isSecret : typeof field !== "object" || field === null) return;
  const inner = shape.is === "object" && Object.hasOwn(shape.fields, name) ? (shape.fields[name] ?? OPEN) : OPEN;
  search(inner, field, { name, above, isSecret }, found);
}

function kindOfText(value: string, isSecret: boolean): Literal["is"] | null {
  if (value.length >= SHORTEST_CREDENTIAL && isCredential(value)) return "credential";
  if (!isSecret || value === "" || value.includes("secret://") || REFERENCE.test(value)) return null;
  return "secret-looking";
}

function pointerOf({ name, above }: Place): string {
  return above === null ? "" : `${pointerOf(above)}/${escapePointer(name)}`;
}
