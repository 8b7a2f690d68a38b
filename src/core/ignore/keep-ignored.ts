import { isObject, type Json, type JsonObject, own } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { fieldShape, itemToken } from "../../model/normal-form.ts";
import type { Kind } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Manifest } from "../manifest.ts";

type Path = readonly string[];

/** The manifest that a step sends: as declared, with live's values in the fields that are ignored. */
export function manifestToSend(
  { shape }: Kind,
  { value }: Manifest,
  live: Live | undefined,
  { ignored }: { readonly ignored: readonly Path[] },
): JsonObject {
  if (live?.state !== "present" || ignored.length === 0) return value;
  const kept = keepIgnored(shape, value, live.row.manifest, ignored);
  return isObject(kept) ? kept : value;
}

/**
 * The manifest to send when another system owns some of its fields: desired, with live's values for those fields, since
 * a PUT replaces the whole resource. List items are matched by key, or by index when they have none.
 */
export function keepIgnored(
  shape: Shape,
  desired: Json | undefined,
  live: Json | undefined,
  paths: readonly Path[],
): Json | undefined {
  return paths.reduce((manifest, path) => replace(shape, manifest, live, path), desired);
}

function replace(shape: Shape, mine: Json | undefined, theirs: Json | undefined, path: Path): Json | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return theirs;
  if (shape.is === "list") return replaceItem(shape, listOf(mine), listOf(theirs), { step, rest });
  if (!isObject(mine ?? {}) || !isObject(theirs ?? {})) return mine;
  const [object, other] = [isObject(mine) ? mine : {}, isObject(theirs) ? theirs : {}];
  const field = replace(fieldShape(shape, step), own(object, step), own(other, step), rest);
  const kept = withField(object, step, field);
  // An object whose only fields live does not have is left out.
  return theirs === undefined && Object.keys(kept).length === 0 ? undefined : kept;
}

function replaceItem(
  shape: Extract<Shape, { is: "list" }>,
  mine: readonly Json[],
  theirs: readonly Json[],
  { step, rest }: { readonly step: string; readonly rest: Path },
): readonly Json[] | undefined {
  const isNamed = (item: Json, index: number): boolean => itemToken(shape, item, index) === step;
  const at = mine.findIndex(isNamed);
  const item = replace(shape.items, mine[at], theirs.find(isNamed), rest);
  if (at === -1) return item === undefined ? unlessEmpty(mine) : [...mine, item];
  if (item !== undefined) return mine.with(at, item);
  // Without keys, removing the item would shift the indexes, and so the names, of the later ones.
  return shape.key === undefined ? mine : unlessEmpty(mine.toSpliced(at, 1));
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function unlessEmpty(list: readonly Json[]): readonly Json[] | undefined {
  return list.length === 0 ? undefined : list;
}

function withField(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const { [name]: _, ...others } = object;
  return value === undefined ? others : { ...others, [name]: value };
}
