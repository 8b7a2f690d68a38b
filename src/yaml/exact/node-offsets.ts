import { isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import type { FieldOffsets } from "../field-offsets.ts";
import { startOf } from "./build-value.ts";

type Node = ParsedNode | null;

/** The field offsets of a document's nodes; `base` is the offset of its text in the file. */
export function nodeOffsets(root: ParsedNode, base: number): FieldOffsets {
  return offsetsOfItem(root, base, 0);
}

// A block under a key, and an empty value, have the offset of their key.
function offsetsOfField(node: Node, base: number, key: number): FieldOffsets {
  const start = startOf(node);
  const value = start < 0 || isBlock(node) ? key : start;
  return { key: base + key, value: base + value, inside: inside(node, base) };
}

// An empty item has the offset of its list.
function offsetsOfItem(node: Node, base: number, list: number): FieldOffsets {
  const start = startOf(node);
  const at = base + (start < 0 ? list : start);
  return { key: at, value: at, inside: inside(node, base) };
}

function inside(node: Node, base: number): FieldOffsets["inside"] {
  if (isSeq(node)) {
    return new Map(node.items.map((item, nth) => [String(nth), offsetsOfItem(item as Node, base, startOf(node))]));
  }
  if (!isMap(node)) return null;
  const fields = new Map<string, FieldOffsets>();
  for (const pair of node.items) {
    const key = pair.key as Node;
    // A key that is not a scalar is a fault of its own; no pointer passes through it.
    const name = isScalar(key) ? String(key.source ?? "") : "";
    if (!fields.has(name)) fields.set(name, offsetsOfField(pair.value as Node, base, Math.max(0, startOf(key))));
  }
  return fields;
}

// A block starts after its key's line, so the key's position is more useful.
function isBlock(node: Node): boolean {
  if (isScalar(node)) return node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
  return (isMap(node) || isSeq(node)) && !node.flow;
}
