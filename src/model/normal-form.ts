import { canonical, compareText, equal, isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import type { Shape } from "../contract/manifest-shape.ts";

type List = Extract<Shape, { is: "list" }>;

/** Whether an empty list or object means nothing or counts as content. */
type Empty = "nothing" | "content";

const FREE: Shape = { is: "free" };

/** The top-level fields that form a manifest's identity, whatever its kind. */
export const namingFields: readonly string[] = ["type", "name", "cluster_fqn", "workspace_fqn", "ml_repo"];

/** The fields of a numbered version (a prompt, a model) that may change in place; all others are its content. */
export const inPlaceFields: readonly string[] = ["description", "metadata", "version_alias"];

/** The shape of a field. A field that the schema does not describe belongs to the user and is compared exactly. */
export function fieldShape(shape: Shape, name: string): Shape {
  return (shape.is === "object" && Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined) ?? FREE;
}

/**
 * The normal form in which manifests are compared, without differences that have no meaning: null, empty lists and
 * objects, key order, the order and duplicates of keyed lists, number or string in values compared as text. The content
 * of a free field, `null` included, is kept, since only its owner knows its meaning. Undefined when nothing is left.
 */
export function normalise(shape: Shape, value: Json | undefined, empty: Empty = "nothing"): Json | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return normaliseList(shape, value, empty);
  if (!isObject(value)) return value;
  const fields = shape.is === "free" ? normaliseFree(shape, value) : normaliseObject(shape, value, empty);
  return fields ?? (empty === "content" ? {} : undefined);
}

function normaliseObject(shape: Shape, value: JsonObject, empty: Empty): JsonObject | undefined {
  return mapFields(value, (field, key) => normalise(fieldShape(shape, key), field, empty));
}

function normaliseFree({ asText }: Extract<Shape, { is: "free" }>, value: JsonObject): JsonObject | undefined {
  return mapFields(value, (field) => {
    if (!asText) return field;
    if (field === null) return undefined;
    return typeof field === "object" ? field : String(field);
  });
}

// Most manifests are already in normal form and are returned unchanged, because a plan normalises every one of them.
function mapFields(value: JsonObject, map: (field: Json, key: string) => Json | undefined): JsonObject | undefined {
  let isChanged = false;
  const fields: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const field = own(value, key) ?? null;
    const mapped = map(field, key);
    isChanged ||= mapped !== field;
    if (mapped !== undefined) fields.push([key, mapped]);
  }
  if (fields.length === 0) return undefined;
  return isChanged ? Object.fromEntries(fields) : value;
}

function normaliseList(shape: Shape, value: readonly Json[], empty: Empty): readonly Json[] | undefined {
  const none = empty === "content" ? [] : undefined;
  if (value.length === 0) return none;
  if (shape.is !== "list") return value;
  const items = value.map((item) => normalise(shape.items, item, empty)).filter((item) => item !== undefined);
  if (items.length === 0) return none;
  return shape.key === undefined || items.length < 2 ? items : sortItems(shape, items);
}

function sortItems(shape: List, items: readonly Json[]): readonly Json[] {
  return items
    .map((item, index) => ({ item, token: itemToken(shape, item, index) }))
    .toSorted(byToken)
    .map(({ item }) => item)
    .filter((item, index, sorted) => index === 0 || !equal(item, sorted[index - 1]));
}

type NamedItem = { readonly item: Json; readonly token: string };

function byToken(a: NamedItem, b: NamedItem): number {
  return compareText(a.token, b.token) || compareText(canonical(a.item), canonical(b.item));
}

/** The indexes of a list's items as written, by the tokens that `children` uses for them in normal form. */
export function itemPlaces(shape: List, value: readonly Json[]): ReadonlyMap<string, number> {
  const items = value
    .map((item, place) => ({ item: normalise(shape.items, item), place }))
    .filter((one): one is { item: Json; place: number } => one.item !== undefined)
    .map(({ item, place }, index) => ({ item, place, token: itemToken(shape, item, index) }));
  const sorted = shape.key === undefined ? items : items.toSorted(byToken);
  const single = sorted.filter(({ item }, index) => shape.key === undefined || !equal(item, sorted[index - 1]?.item));
  const places = new Map<string, number>();
  for (const [index, { token, place }] of single.entries()) {
    places.set(places.has(token) ? `${token}#${index}` : token, place);
  }
  return places;
}

/** The name of an item: in a keyed list its key fields, with defaults; in a set the whole item; otherwise its index. */
export function itemToken({ key, items }: List, item: Json, index: number): string {
  if (key === undefined) return String(index);
  if (!isObject(item)) return word(item);
  const names = key.length === 0 ? Object.keys(item) : key;
  return names.map((name) => word(own(item, name) ?? fieldShape(items, name).default ?? "")).join(":");
}

function word(value: Json): string {
  return typeof value === "object" ? canonical(value) : String(value);
}

/** The children of a container by token: object fields, keyed items, or indexed items; null for a leaf. */
export function children(
  shape: Shape,
  value: Json | undefined,
): ReadonlyMap<string, { shape: Shape; value: Json }> | null {
  if (Array.isArray(value)) return shape.is === "list" ? listChildren(shape, value) : null;
  if (!isObject(value)) return null;
  return new Map(
    Object.entries(value).map(([name, field]) => [name, { shape: fieldShape(shape, name), value: field }]),
  );
}

function listChildren(shape: List, value: readonly Json[]): ReadonlyMap<string, { shape: Shape; value: Json }> {
  const found = new Map<string, { shape: Shape; value: Json }>();
  for (const [index, item] of value.entries()) {
    const token = itemToken(shape, item, index);
    // Duplicates in a keyed list are kept: the second one is named by its index.
    found.set(found.has(token) ? `${token}#${index}` : token, { shape: shape.items, value: item });
  }
  return found;
}

/** Follows a path of tokens into a normalised value. */
export function valueAt(shape: Shape, value: Json | undefined, tokens: readonly string[]): Json | undefined {
  const [token, ...rest] = tokens;
  if (token === undefined) return value;
  const child = children(shape, value)?.get(token);
  return child === undefined ? undefined : valueAt(child.shape, child.value, rest);
}
