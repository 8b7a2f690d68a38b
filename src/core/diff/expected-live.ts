import { compareText, equal, isObject, type Json, own } from "../../contract/json.ts";
import { fillDefaults, type Shape } from "../../contract/manifest-shape.ts";
import { children, fieldShape, normalise } from "../../model/normal-form.ts";

/** The normalised manifest with the schema's defaults. Defaults that only the control plane knows are not included. */
export function withDefaults(shape: Shape, value: Json | undefined): Json | undefined {
  return value === undefined || shape.is === "free" ? value : normalise(shape, fillDefaults(shape, value));
}

/**
 * What live should be after the manifest is written, according to its record. Fields equal to the last written manifest
 * take what the server returned; other fields take the desired value with the schema's defaults. All values are normalised.
 */
export function expectedLive(
  shape: Shape,
  desired: Json | undefined,
  receipt: { readonly written: Json | undefined; readonly returned: Json | undefined } | null,
): Json | undefined {
  if (receipt === null) return withDefaults(shape, desired);
  const { written, returned } = receipt;
  if (equal(desired, written)) return returned;
  if (Array.isArray(desired) && Array.isArray(written) && Array.isArray(returned))
    return expectedItems(shape, desired, { written, returned });
  if (!isObject(desired) || !isObject(written) || !isObject(returned))
    return withDefaults(shape, desired ?? shape.default);
  const names = new Set([...Object.keys(desired), ...Object.keys(written), ...Object.keys(returned)]);
  const fields = [...names].toSorted(compareText).flatMap((name): [string, Json][] => {
    const settled = expectedLive(fieldShape(shape, name), own(desired, name), {
      written: own(written, name),
      returned: own(returned, name),
    });
    return settled === undefined ? [] : [[name, settled]];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

// An item with a name is what the server made of it last, as long as it is declared as before; others are as declared.
function expectedItems(
  shape: Shape,
  desired: readonly Json[],
  receipt: { readonly written: readonly Json[]; readonly returned: readonly Json[] },
): Json | undefined {
  if (shape.is !== "list" || shape.key === undefined || shape.key.length === 0) return withDefaults(shape, desired);
  const [mine, written, returned] = [desired, receipt.written, receipt.returned].map((list) => children(shape, list));
  const items = [...(mine ?? [])].flatMap(([token, { value }]) => {
    const before = written?.get(token)?.value;
    const after = returned?.get(token)?.value;
    const isKnown = before !== undefined && after !== undefined;
    const item = isKnown
      ? expectedLive(shape.items, value, { written: before, returned: after })
      : withDefaults(shape.items, value);
    return item === undefined ? [] : [item];
  });
  return normalise(shape, items);
}
