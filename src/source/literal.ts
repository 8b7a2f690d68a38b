import { isObject, type Json } from "../contract/json.ts";
import { escapePointer } from "../contract/reference.ts";
import type { Shape } from "../contract/shape.ts";
import { isCredential, isSecretKey } from "../core/sensitive.ts";

/** A secret that stands in a manifest as it is, and where. */
export type Literal = { readonly pointer: string; readonly is: "credential" | "secret-looking" };

// No known credential is shorter, and most values are.
const SHORTEST_CREDENTIAL = 20;
const OPEN: Shape = { is: "free" };

/** Every literal secret in a manifest: in a known credential format anywhere, or under a telling key in a free field. */
export function literalSecrets(shape: Shape, value: Json, pointer = "", isNamedSecret = false): readonly Literal[] {
  if (typeof value === "string") return ofText(value, pointer, isNamedSecret);
  if (typeof value !== "object" || value === null) return [];
  if (isObject(value)) return ofFields(shape, value, pointer);
  const items = shape.is === "list" ? shape.items : OPEN;
  return collect(value, (item, index) => literalSecrets(items, item, `${pointer}/${index}`, isNamedSecret));
}

function ofText(value: string, pointer: string, isNamedSecret: boolean): readonly Literal[] {
  if (value.length >= SHORTEST_CREDENTIAL && isCredential(value)) return [{ pointer, is: "credential" }];
  if (!isNamedSecret || value === "" || value.includes("secret://") || /^\$\{?\w+\}?$/.test(value)) return [];
  return [{ pointer, is: "secret-looking" }];
}

function ofFields(shape: Shape, value: { readonly [key: string]: Json }, pointer: string): readonly Literal[] {
  const isFree = shape.is !== "object";
  return collect(Object.keys(value), (key) => {
    const field = value[key] ?? null;
    const inner = shape.is === "object" && Object.hasOwn(shape.fields, key) ? (shape.fields[key] ?? OPEN) : OPEN;
    // Most fields are short texts, numbers and the like: their pointers need not be built.
    if (typeof field === "string" && field.length < SHORTEST_CREDENTIAL && !(isFree && isSecretKey(key))) return NONE;
    if (typeof field !== "string" && (typeof field !== "object" || field === null)) return NONE;
    return literalSecrets(inner, field, `${pointer}/${escapePointer(key)}`, isFree && isSecretKey(key));
  });
}

const NONE: readonly Literal[] = [];

function collect<Item>(
  items: readonly Item[],
  of: (item: Item, index: number) => readonly Literal[],
): readonly Literal[] {
  let all: Literal[] | null = null;
  for (const [index, item] of items.entries()) {
    const found = of(item, index);
    if (found.length > 0) {
      all ??= [];
      all.push(...found);
    }
  }
  return all ?? NONE;
}
