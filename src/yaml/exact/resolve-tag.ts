import type { Json } from "../../contract/json.ts";
import { type Fault, fault } from "../fault.ts";
import { resolvePlain, type Scalar } from "../plain-scalar.ts";

/** A scalar read as its tag says, or why it cannot be. */
export type Tagged = Scalar | { readonly is: "bad-tag"; readonly summary: string; readonly detail: string | null };

const CORE = "tag:yaml.org,2002:";

const FOREIGN = {
  is: "bad-tag",
  summary: "a tag that manifests do not have",
  detail: "Only the tags of YAML's own core are read: !!str, !!int, !!float, !!bool, !!null, !!map and !!seq.",
} as const;

/** Reads a scalar under an explicit tag; only the core's tags are known. */
export function resolveTagged(tag: string, text: string): Tagged {
  if (tag === "!" || tag === `${CORE}str`) return { is: "value", value: text };
  if (!tag.startsWith(CORE)) return FOREIGN;
  const wanted = tag.slice(CORE.length);
  if (!["int", "float", "bool", "null"].includes(wanted)) return FOREIGN;
  const scalar = resolvePlain(text);
  if (scalar.is !== "value" || fits(wanted, scalar.value)) return scalar;
  return {
    is: "bad-tag",
    summary: `a value that is no ${wanted}, though its tag says so`,
    detail: "Remove the tag or correct the value.",
  };
}

/** The fault of a tag that a list or mapping may not carry. */
export function collectionTagFault(tag: string, own: "map" | "seq", offset: number): Fault | null {
  if (tag === "" || tag === "!" || tag === CORE + own) return null;
  return fault(offset, "tag", FOREIGN.summary, FOREIGN.detail);
}

function fits(wanted: string, value: Json): boolean {
  switch (wanted) {
    case "int":
      return Number.isInteger(value);
    case "float":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    default:
      return value === null;
  }
}
