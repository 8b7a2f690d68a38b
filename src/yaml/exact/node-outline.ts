import { isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import type { DocumentOutline } from "../document-outline.ts";
import { startOf } from "./build-value.ts";

type Node = ParsedNode | null;

/** The outline of a document's nodes; its text starts at the given offset of its file. */
export function nodeOutline(root: ParsedNode, base: number): DocumentOutline {
  return itemOutline(root, base, 0);
}

// A block under a key, and an empty value, are where their key is.
function fieldOutline(node: Node, base: number, key: number): DocumentOutline {
  const start = startOf(node);
  const value = start < 0 || isBlock(node) ? key : start;
  return { key: base + key, value: base + value, inside: inside(node, base) };
}

// An empty item is where its list is.
function itemOutline(node: Node, base: number, list: number): DocumentOutline {
  const start = startOf(node);
  const at = base + (start < 0 ? list : start);
  return { key: at, value: at, inside: inside(node, base) };
}

function inside(node: Node, base: number): DocumentOutline["inside"] {
  if (isSeq(node)) {
    return new Map(node.items.map((item, nth) => [String(nth), itemOutline(item as Node, base, startOf(node))]));
  }
  if (!isMap(node)) return null;
  const fields = new Map<string, DocumentOutline>();
  for (const pair of node.items) {
    const key = pair.key as Node;
    // A key that is no scalar is a fault by itself; nothing has a pointer through it.
    const name = isScalar(key) ? String(key.source ?? "") : "";
    if (!fields.has(name)) fields.set(name, fieldOutline(pair.value as Node, base, Math.max(0, startOf(key))));
  }
  return fields;
}

// Blocks begin after their key's line; the key says more.
function isBlock(node: Node): boolean {
  if (isScalar(node)) return node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
  return (isMap(node) || isSeq(node)) && !node.flow;
}
