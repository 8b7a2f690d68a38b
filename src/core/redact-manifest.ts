import type { Json } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { MASK } from "../model/credential.ts";
import { compareText } from "./diagnostic.ts";
import { children } from "./normalise.ts";
import { isSensitiveField, redactValue } from "./sensitive.ts";

/** A manifest, its keys in order, with every value that could be a secret replaced, by the mask or by what `mask` makes of it. */
export function redactManifest(
  shape: Shape,
  value: Json,
  { mask = () => MASK, sensitive = false }: { mask?: (hidden: Json) => Json; sensitive?: boolean } = {},
): Json {
  const inner = children(shape, value);
  if (inner === null) return redactValue(value, sensitive, mask);
  const ordered = Array.isArray(value) ? [...inner] : [...inner].toSorted(([a], [b]) => compareText(a, b));
  const redacted = ordered.map(([token, child]): [string, Json] => {
    const hidden = sensitive || isSensitiveField(shape, child.shape, token, value);
    return [token, redactManifest(child.shape, child.value, { mask, sensitive: hidden })];
  });
  return Array.isArray(value) ? redacted.map(([, item]) => item) : Object.fromEntries(redacted);
}
