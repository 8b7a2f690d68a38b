import { isObject, type Json } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { MASK } from "../../model/credential.ts";
import { fieldShape } from "../../model/normal-form.ts";
import { isSensitiveField, redactFields, redactValue } from "../../model/sensitive-fields.ts";

/** Masking options. */
type Masking = { readonly mask?: (hidden: Json) => Json; readonly sensitive?: boolean };

/** A manifest with sorted keys, and every possible secret replaced by the mask or by the result of `mask`. */
export function redactManifest(
  shape: Shape,
  value: Json,
  { mask = () => MASK, sensitive = false }: Masking = {},
): Json {
  if (Array.isArray(value) && shape.is === "list") {
    const hidden = sensitive || isSensitiveField(shape, shape.items, "", value);
    return value.map((item: Json) => redactManifest(shape.items, item, { mask, sensitive: hidden }));
  }
  if (!isObject(value)) return redactValue(value, sensitive, mask);
  return redactFields(value, { mask }, (name, field) => {
    const inner = fieldShape(shape, name);
    const hidden = sensitive || isSensitiveField(shape, inner, name, value);
    return redactManifest(inner, field, { mask, sensitive: hidden });
  });
}
