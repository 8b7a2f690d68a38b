import type { Json } from "../../contract/json.ts";
import { type Fault, fault } from "../fault.ts";
import { resolvePlain, type Scalar } from "../plain-scalar.ts";

/** A scalar resolved by its tag, or why it cannot be. */
export type Tagged = Scalar | { readonly is: "bad-tag"; readonly summary: string; readonly detail: string | null };

const CORE = "tag:yaml.org,2002:";

const FOREIGN = {
  is: "bad-tag",
  summary: "a tag that manifests do not support",
  detail: "Only the tags of YAML's own core are read: !!str, !!int, !!float, !!bool, !!null, !!map and !!seq.",
} as const;

/** Resolves a scalar with an explicit tag; only the core schema's tags are supported. */
export function resolveTagged(tag: string, text: string): Tagged {
  if (tag === "!" || tag === `${CORE}str`) return { is: "value", value: text };
  if (!tag.startsWith(CORE)) return FOREIGN;
  const wanted = tag.slice(CORE.length);
  if (!["int", "float", "bool", "null"].includes(wanted)) return FOREIGN;
  const scalar = resolvePlain(text);
  if (scalar.is !== "value" || fits(wanted, scalar.value)) return scalar;
  return {
    is: "bad-tag",
    summary: `a value that does not match its tag !!${wanted}`,
    detail: "Remove the tag or correct the value.",
  };
}

/** The fault of a tag that is not allowed on a list or mapping. */
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
