import { allowedTypes, type SchemaNode } from "./schema-node.ts";

/** The type of a field in words: `integer`, `list of strings, order-free`, `object (free)`. */
export function typeWords(node: SchemaNode): string {
  const types = allowedTypes(node).map((type) => (type === "array" ? `list${itemWords(node)}` : type));
  const free = node["x-free"] ? " (free)" : node["x-as-text"] ? " of texts" : "";
  return types.join(" or ") + free;
}

function itemWords({ items, "x-set": set, "x-key": key }: SchemaNode): string {
  const inner = items === undefined ? [] : allowedTypes(items);
  const order = set ? ", order-free" : key === undefined ? "" : `, order-free by ${key.join(" and ")}`;
  return `${inner.length === 1 ? ` of ${inner[0]}s` : ""}${order}`;
}

/** The limits of a number and of the length of a list, each a sentence after a space; empty where there are none. */
export function rangeWords({ minimum, exclusiveMinimum, maximum, minItems }: SchemaNode): string {
  const least = minItems === undefined ? "" : ` At least ${minItems} ${minItems === 1 ? "item" : "items"}.`;
  if (exclusiveMinimum !== undefined) return ` More than ${exclusiveMinimum}, at most ${maximum}.${least}`;
  if (minimum === undefined || maximum === undefined || maximum === 2147483647)
    return minimum ? ` At least ${minimum}.${least}` : least;
  return ` ${minimum} to ${maximum}.${least}`;
}
