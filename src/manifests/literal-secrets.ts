import { equal, isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer, pointerTokens } from "../contract/json-pointer.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import { writtenValueAt } from "../core/diff/pointer.ts";
import { hasConnectionSecret, isSecretName } from "../model/connection-secret.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../model/credential.ts";
import { oncePer } from "../model/once.ts";
import { isSecretKey } from "../model/sensitive-fields.ts";

/** A secret in plain text in a manifest, and its place. */
export type Literal = {
  readonly pointer: string;
  readonly is: "credential" | "connection" | "secret-looking";
  /** Whether it is the name of the field, not its value. */
  readonly isName: boolean;
};

/**
 * Every secret in plain text in a manifest: values of secret-looking keys, names and connection strings in fields that
 * are free-form or that the schema lacks, those of passwords and keys that it has and, unless the file may hold them, values in a known credential format and
 * connection strings anywhere.
 */
export function literalSecrets(
  shape: Shape,
  value: Json,
  hasCredentials: boolean,
  allowsSecrets: () => boolean,
): readonly Literal[] {
  const wantsCredentials = hasCredentials && !allowsSecrets();
  const search: Search = { hasCredentials, allowsSecrets, wantsCredentials, found: [] };
  searchValue(search, shape, value, { name: "", above: null, isSecret: false });
  return search.found;
}

/** The secrets in plain text in a manifest of whatever file, whether or not that may hold them. */
export function secretsIn(shape: Shape, value: Json): readonly Literal[] {
  return literalSecrets(shape, value, true, () => false);
}

/** Those of them that a change to the manifest adds, or gives another value. */
export function addedSecrets(shape: Shape, before: JsonObject, after: JsonObject): readonly Literal[] {
  return secretsIn(shape, after).filter(({ pointer }) => {
    const tokens = pointerTokens(pointer);
    return !equal(writtenValueAt(before, tokens), writtenValueAt(after, tokens));
  });
}

type Search = {
  /** Whether a text of the document is in a known credential format, or contains a secret of a connection string. */
  readonly hasCredentials: boolean;
  /** Whether the file may hold values in a known credential format. */
  readonly allowsSecrets: () => boolean;
  /** Whether credentials are searched for outside of free-form fields too. */
  readonly wantsCredentials: boolean;
  readonly found: Literal[];
};

/** The path to a value. A JSON Pointer is created only for a finding. */
type Path = { readonly name: string; readonly above: Path | null; readonly isSecret: boolean };

// A variable that another tool substitutes.
const VARIABLE = /^\$\{?\w+\}?$/;
// The file that contains a secret, such as `gcp.json`.
const FILE_NAME = /^[\w./-]{1,256}\.(?:json|ya?ml|pem|key|crt|p12|toml|ini|conf|txt)$/;
const FREE: Shape = { is: "free" };

function searchValue(search: Search, shape: Shape, value: Json, path: Path): void {
  if (typeof value === "string") {
    const is = textKind(search, value, path.isSecret);
    if (is !== null) search.found.push({ pointer: pointerOf(path), is, isName: false });
  } else if (isObject(value)) {
    if (shape.is === "object") searchObject(search, shape, value, path);
    else searchFree(search, value, path);
  } else if (typeof value === "object" && value !== null) {
    const items = shape.is === "list" ? shape.items : FREE;
    for (const [index, item] of value.entries()) {
      searchValue(search, items, item, { ...path, name: String(index), above: path });
    }
  }
}

// Most of a manifest is described by its schema and has no free-form fields: it is not searched.
function searchObject(search: Search, shape: Known, value: Fields, above: Path): void {
  for (const name in value) {
    const field = value[name];
    const inner = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (inner === undefined) searchFreeField(search, name, field, above);
    else if (field !== undefined && (search.wantsCredentials || isSearched(name, inner)))
      searchValue(search, inner, field, { name, above, isSecret: isSecretField(name, inner) });
  }
}

function searchFree(search: Search, value: Fields, above: Path): void {
  for (const name in value) searchFreeField(search, name, value[name], above);
}

function searchFreeField(search: Search, name: string, field: Json | undefined, above: Path): void {
  if (isSecretName(name)) addName(search, { name, above, isSecret: false });
  if (typeof field !== "string" && !isNested(field)) return;
  const isSecret = isSecretKey(name);
  // Few strings are findings: a path object is allocated only for those.
  if (typeof field === "string" && textKind(search, field, isSecret) === null) return;
  searchValue(search, FREE, field, { name, above, isSecret });
}

function addName(search: Search, path: Path): void {
  const isKnown = isCredential(path.name);
  if (isKnown && search.allowsSecrets()) return;
  search.found.push({ pointer: pointerOf(path), is: isKnown ? "credential" : "connection", isName: true });
}

function isNested(value: Json | undefined): value is Extract<Json, object> {
  return typeof value === "object" && value !== null;
}

type Known = Extract<Shape, { is: "object" }>;
type Fields = { readonly [name: string]: Json };

const hasSearchedField = oncePer((shape: Known): boolean =>
  Object.entries(shape.fields).some(([name, field]) => isSearched(name, field)),
);

/** Whether a field is free-form or for a secret, or contains such a field. */
function isSearched(name: string, shape: Shape): boolean {
  if (shape.is === "free" || isSecretField(name, shape)) return true;
  if (shape.is === "list") return isSearched("", shape.items);
  return shape.is === "object" && hasSearchedField(shape);
}

/** Whether the schema has a field for a secret, such as `password`; other fields that it hides may have any content. */
function isSecretField(name: string, shape: Shape): boolean {
  return shape.is === "value" && shape.sensitive === true && isSecretKey(name);
}

function textKind(
  { hasCredentials, wantsCredentials }: Search,
  value: string,
  isSecret: boolean,
): Literal["is"] | null {
  if (wantsCredentials && value.length >= SHORTEST_CREDENTIAL && isCredential(value)) return "credential";
  if (hasCredentials && hasConnectionSecret(value)) return "connection";
  if (!isSecret || value === "" || value.includes("secret://") || VARIABLE.test(value) || FILE_NAME.test(value))
    return null;
  return "secret-looking";
}

function pointerOf({ name, above }: Path): string {
  return above === null ? "" : `${pointerOf(above)}/${escapePointer(name)}`;
}
