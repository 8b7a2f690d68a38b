import { isObject, type Json, type JsonObject, own } from "../../contract/json.ts";
import { escapePointer } from "../../contract/json-pointer.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { fieldShape, itemToken } from "../../model/normal-form.ts";
import { type Origin, originBelow } from "./origin.ts";

/** A manifest, and where its values stand. */
export type Patched = { readonly value: JsonObject; readonly origin: Origin };

/** A patch: its number among those of the manifest, from 1, and the JSON Pointer at which it stands in its document. */
export type Patch = { readonly value: JsonObject; readonly from: number; readonly pointer: string };

/** What is wrong with a patch, and the JSON Pointer in its document at which. */
export type PatchFault = {
  readonly pointer: string;
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
};

/**
 * A manifest after a JSON merge patch (RFC 7396). In a list whose schema has a key, items merge by it, and
 * `{ KEY, $delete: true }` removes one; `{ $replace: [...] }` in place of a list replaces it.
 */
export function mergePatch(
  shape: Shape,
  { value, origin }: Patched,
  patch: Patch,
): Patched & { readonly faults: readonly PatchFault[] } {
  const faults: PatchFault[] = [];
  const merge: Merge = { from: patch.from, report: (fault) => void faults.push(fault) };
  const merged = mergeObject(merge, shape, { value, origin }, { value: patch.value, pointer: patch.pointer });
  return { value: isObject(merged.value) ? merged.value : value, origin: merged.origin, faults };
}

const REPLACE = "$replace";
const DELETE = "$delete";

type Merge = { readonly from: number; readonly report: (fault: PatchFault) => void };

type Sited<Value> = { readonly value: Value; readonly origin: Origin };
type Given<Value> = { readonly value: Value; readonly pointer: string };
type List = Extract<Shape, { is: "list" }>;

function mergeValue(merge: Merge, shape: Shape, was: Sited<Json> | null, { value, pointer }: Given<Json>): Sited<Json> {
  if (Array.isArray(value) && shape.is === "list" && shape.key !== undefined && shape.key.length > 0)
    return mergeItems(merge, { ...shape, key: shape.key }, was, { value, pointer });
  if (!isObject(value)) return literal(merge, { value, pointer });
  const list = own(value, REPLACE);
  if (list === undefined) return mergeObject(merge, shape, was, { value, pointer });
  const place = `${pointer}/${REPLACE}`;
  if (!Array.isArray(list) || Object.keys(value).length > 1) {
    merge.report(fault(place, `\`${REPLACE}\` takes a list, and stands alone`, REPLACE_FORM));
    return was ?? literal(merge, { value: [], pointer });
  }
  return literal(merge, { value: list, pointer: place });
}

const REPLACE_FORM = `Write \`{ ${REPLACE}: [...] }\` in place of the list.`;
const TWICE = "Write both as one item.";
const DELETE_FORM = `In a list with a key write \`{ KEY, ${DELETE}: true }\`; null removes a field.`;

function mergeObject(
  merge: Merge,
  shape: Shape,
  was: Sited<Json> | null,
  { value: patch, pointer }: Given<JsonObject>,
): Sited<Json> {
  const before = was !== null && isObject(was.value) ? was.value : null;
  const fields = new Map(Object.entries(before ?? {}));
  const start = was === null || before === null ? { from: merge.from, pointer } : was.origin;
  const below = new Map(start.below);
  for (const [name, field] of Object.entries(patch)) {
    const place = `${pointer}/${escapePointer(name)}`;
    if (name === DELETE)
      merge.report(fault(place, `\`${DELETE}\` stands in no item of a list with a key`, DELETE_FORM));
    else if (field === null) {
      fields.delete(name);
      below.set(name, { from: merge.from, pointer: place });
    } else {
      const known = fields.get(name);
      const inner = known === undefined ? null : { value: known, origin: originBelow(start, name) };
      const merged = mergeValue(merge, fieldShape(shape, name), inner, { value: field, pointer: place });
      fields.set(name, merged.value);
      below.set(name, merged.origin);
    }
  }
  return { value: Object.fromEntries(fields), origin: { from: start.from, pointer: start.pointer, below } };
}

type Keyed = List & { readonly key: readonly string[] };

function mergeItems(
  merge: Merge,
  shape: Keyed,
  was: Sited<Json> | null,
  { value: patch, pointer }: Given<readonly Json[]>,
): Sited<Json> {
  const before = was !== null && Array.isArray(was.value) ? was : null;
  const start = before?.origin ?? { from: merge.from, pointer };
  const known: readonly Json[] = before !== null && Array.isArray(before.value) ? before.value : [];
  let items = known.map((value, at): Sited<Json> => ({ value, origin: originBelow(start, String(at)) }));
  // By their keys, unless those are numbers, as indexes are.
  const removed = [...(start.below ?? [])].filter(([token]) => !/^\d+$/.test(token));
  const given = new Set<string>();
  for (const [at, item] of patch.entries()) {
    const place = `${pointer}/${at}`;
    const problem = keyFault(shape, item, place);
    if (problem !== null || !isObject(item)) {
      if (problem !== null) merge.report(problem);
      continue;
    }
    const token = itemToken(shape, item, at);
    const index = items.findIndex(({ value }, nth) => isObject(value) && itemToken(shape, value, nth) === token);
    if (own(item, DELETE) !== undefined) {
      const wrong = deleteFault(shape, item, { isFound: index >= 0, place });
      if (wrong !== null) merge.report(wrong);
      items = items.filter((_, nth) => nth !== index);
      removed.push([token, { from: merge.from, pointer: place }]);
      continue;
    }
    if (given.has(token)) merge.report(fault(place, "an item with the key of an earlier one of this list", TWICE));
    given.add(token);
    const merged = mergeValue(merge, shape.items, items[index] ?? null, { value: item, pointer: place });
    items = index < 0 ? [...items, merged] : items.with(index, merged);
  }
  const below = new Map([...removed, ...items.map(({ origin }, at) => [String(at), origin] as const)]);
  return { value: items.map(({ value }) => value), origin: { from: start.from, pointer: start.pointer, below } };
}

function keyFault({ key, items }: Keyed, item: Json, place: string): PatchFault | null {
  const names = key.map((name) => `\`${name}\``).join(" and ");
  const detail = `Items of this list merge by ${names}. ${REPLACE_FORM}`;
  if (!isObject(item)) return fault(place, "an item that is no object, in a list with a key", detail);
  const missing = key.find((name) => (own(item, name) ?? fieldShape(items, name).default ?? null) === null);
  return missing === undefined ? null : fault(place, `an item without its key \`${missing}\``, detail);
}

function deleteFault(
  { key }: Keyed,
  item: JsonObject,
  { isFound, place }: { readonly isFound: boolean; readonly place: string },
): PatchFault | null {
  const at = `${place}/${DELETE}`;
  if (item[DELETE] !== true) return fault(at, `\`${DELETE}\` takes true alone`, DELETE_FORM);
  const other = Object.keys(item).find((name) => name !== DELETE && !key.includes(name));
  if (other !== undefined)
    return fault(
      `${place}/${escapePointer(other)}`,
      `a field beside \`${DELETE}\` that is no part of the key`,
      DELETE_FORM,
    );
  return isFound ? null : fault(at, `\`${DELETE}\` removes nothing: the list has no such item`, "Remove it.");
}

// As written, nulls within lists included. What would mean something elsewhere is most likely a mistake here.
function literal({ from, report }: Merge, { value, pointer }: Given<Json>): Sited<Json> {
  reportMarkers(value, pointer, report);
  return { value, origin: { from, pointer } };
}

function reportMarkers(value: Json, pointer: string, report: Merge["report"]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, field] of Object.entries(value)) {
    const place = `${pointer}/${escapePointer(name)}`;
    if (isObject(value) && (name === DELETE || name === REPLACE))
      report(
        fault(place, `\`${name}\` in a list without a key, which is replaced as a whole`, "Write the whole list."),
      );
    else reportMarkers(field, place, report);
  }
}

function fault(pointer: string, summary: string, detail: string): PatchFault {
  return { pointer, code: "patch", summary, detail };
}
