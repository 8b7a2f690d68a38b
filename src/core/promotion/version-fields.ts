// src/core/promotion: which fields a promotion copies from one target to another. See docs/environments.md#promotion.

import { equal, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { type Glob, globMatcher } from "../../model/glob.ts";
import { children, inPlaceFields, namingFields, valueAt } from "../../model/normal-form.ts";
import { contentOf } from "../diff/compared-content.ts";
import { takeLive } from "../diff/declared-form.ts";
import { isIgnored } from "../ignore/ignore-rules.ts";
import type { Kind } from "../kind.ts";
import { type Identity, splitIdentity, splitVersion } from "../manifest.ts";

/** A field that a target's promotions copy. */
export type PromotedField = {
  /** JSON Pointer in which `*` matches one segment; everything below it is copied too. */
  readonly path: string;
  /** Glob over identities; all when absent. */
  readonly match?: Glob | null;
};

/** The path of a field in normal form: field names, keys of items or their indexes. */
type Path = readonly string[];

/**
 * The fields of a live resource that are copied, as paths in normal form: those that the target names, else the whole content
 * of a numbered version, else the fields that the schema marks as a version.
 */
export function versionFields(
  kind: Kind,
  { identity, live }: { readonly identity: Identity; readonly live: JsonObject },
  named: readonly PromotedField[] | null,
): readonly Path[] {
  const content = contentOf(kind, live);
  if (named !== null) return pathsIn(kind.shape, content, isNamed(identity, named));
  if (kind.hasVersions) return isObject(content) ? contentFields(content) : [];
  return pathsIn(kind.shape, content, (_, shape) => shape.is === "value" && shape.version === true);
}

function isNamed(identity: Identity, named: readonly PromotedField[]): (path: Path) => boolean {
  const paths = named
    .filter(({ match }) => globMatcher(match ?? "**")(identity))
    .map(({ path }) => pointerTokens(path));
  return (path) => isIgnored(paths, path) && !(path.length === 1 && namingFields.includes(path[0] ?? ""));
}

function contentFields(content: JsonObject): readonly Path[] {
  return Object.keys(content)
    .filter((name) => !namingFields.includes(name) && !inPlaceFields.includes(name))
    .map((name) => [name]);
}

// The outermost fields that are wanted.
function pathsIn(
  shape: Shape,
  value: Json | undefined,
  isWanted: (path: Path, shape: Shape) => boolean,
  path: Path = [],
): readonly Path[] {
  if (path.length > 0 && isWanted(path, shape)) return [path];
  return [...(children(shape, value) ?? [])].flatMap(([token, child]) =>
    pathsIn(child.shape, child.value, isWanted, [...path, token]),
  );
}

/**
 * The manifest of the other target with these fields as live has them. A field is copied where the other manifest has the
 * same place for it: the object that contains it exists there, and is of the same type. The number of a version is never copied.
 */
export function withVersions(kind: Kind, manifest: JsonObject, live: JsonObject, fields: readonly Path[]): JsonObject {
  const [given, content] = [contentOf(kind, manifest), contentOf(kind, live)];
  const copied = fields.filter((path) => {
    if (equal(valueAt(kind.shape, given, path), valueAt(kind.shape, content, path))) return false;
    return isSamePlace(kind.shape, [given, content], path.slice(0, -1));
  });
  // What a version no longer has is no part of its content.
  const lost =
    kind.hasVersions && isObject(given) ? contentFields(given).filter(([name = ""]) => !has(content, name)) : [];
  return copied.length + lost.length === 0 ? manifest : takeLive(kind, manifest, live, [...copied, ...lost]);
}

function has(content: Json | undefined, name: string): boolean {
  return isObject(content) && Object.hasOwn(content, name);
}

function isSamePlace(shape: Shape, [mine, theirs]: readonly (Json | undefined)[], path: Path): boolean {
  const [own, other] = [valueAt(shape, mine, path), valueAt(shape, theirs, path)];
  if (!isObject(own) || !isObject(other)) return Array.isArray(own) && Array.isArray(other);
  return own.type === undefined || other.type === undefined || equal(own.type, other.type);
}

/** The identity without the number of a version: it is another one in each target. */
export function unnumbered(identity: Identity): Identity {
  const { kind, key } = splitIdentity(identity);
  return `${kind}/${splitVersion(key).name}`;
}
