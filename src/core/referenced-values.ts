import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import type { Kind } from "./kind.ts";

/** The code of the warning about values in live that no manifest names. */
export const UNDECLARED = "undeclared-secrets";

/** The stand-in of a value that exists and cannot be compared, since it is not known what was written last. */
export const NOT_COMPARED = "not compared";

/** The stand-in of a value that could not be read, and the code of the refusal that says why. */
export const UNRESOLVED = "secret-source";

/** A value that a manifest names by reference, and where it does. */
export type NamedValue = { readonly name: string; readonly reference: Json; readonly pointer: string };

/** The values that a manifest names, or what stands for them; none for a kind without them. */
export function valuesIn({ values }: Kind, manifest: JsonObject): readonly NamedValue[] {
  if (values === undefined) return [];
  const { list, name, value } = values;
  return itemsOf(manifest[list]).flatMap((item, at) => {
    const found = isObject(item) ? text(item[name]) : undefined;
    if (found === undefined || !isObject(item)) return [];
    return [{ name: found, reference: item[value] ?? null, pointer: `/${list}/${at}/${value}` }];
  });
}

/** The manifest with other values; an item for which there is none is left out. */
export function replaceValues(
  { values }: Kind,
  manifest: JsonObject,
  replace: (name: string, value: Json) => Json | undefined,
): JsonObject {
  if (values === undefined || !Array.isArray(manifest[values.list])) return manifest;
  const { list, name, value } = values;
  const items = itemsOf(manifest[list]).flatMap((item): readonly Json[] => {
    const found = isObject(item) ? text(item[name]) : undefined;
    if (found === undefined || !isObject(item)) return [item];
    const replaced = replace(found, item[value] ?? null);
    return replaced === undefined ? [] : [{ ...item, [value]: replaced }];
  });
  return { ...manifest, [list]: items };
}

/** Whether a difference is about such a value, by its path. */
export function isValuePath({ values }: Kind, tokens: readonly string[]): boolean {
  return values !== undefined && tokens.length === 3 && tokens[0] === values.list && tokens[2] === values.value;
}

/** Whether one of these differences is a value that only the manifest names. */
export function addsValue(
  kind: Kind,
  differences: readonly { readonly tokens: readonly string[]; readonly before: Json | undefined }[],
): boolean {
  return differences.some(({ tokens, before }) => before === undefined && isValuePath(kind, tokens));
}

/** Whether a manifest has a value that is not compared. */
export function hasUncompared(kind: Kind, manifest: JsonObject): boolean {
  return valuesIn(kind, manifest).some(({ reference }) => reference === NOT_COMPARED);
}

function itemsOf(list: Json | undefined): readonly Json[] {
  return Array.isArray(list) ? list : [];
}
