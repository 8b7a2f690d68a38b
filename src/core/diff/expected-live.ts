import { compareText, equal, isObject, type Json, own } from "../../contract/json.ts";
import { fillDefaults, type Shape } from "../../contract/manifest-shape.ts";
import { fieldShape, normalise } from "../../model/normal-form.ts";

/** The normalised manifest with the schema's defaults, as far as they are known without asking the control plane. */
export function withDefaults(shape: Shape, value: Json | undefined): Json | undefined {
  return value === undefined || shape.is === "free" ? value : normalise(shape, fillDefaults(shape, value));
}

/**
 * What a manifest becomes on the control plane, as far as its record shows: where desired is what we wrote last time,
 * the server's echo of it; elsewhere desired itself with the schema's defaults. All values normalised.
 */
export function expectedLive(
  shape: Shape,
  desired: Json | undefined,
  receipt: { readonly written: Json | undefined; readonly echo: Json | undefined } | null,
): Json | undefined {
  if (receipt === null) return withDefaults(shape, desired);
  const { written, echo } = receipt;
  if (equal(desired, written)) return echo;
  if (!isObject(desired) || !isObject(written) || !isObject(echo)) return withDefaults(shape, desired ?? shape.default);
  const names = new Set([...Object.keys(desired), ...Object.keys(written), ...Object.keys(echo)]);
  const fields = [...names].toSorted(compareText).flatMap((name): [string, Json][] => {
    const settled = expectedLive(fieldShape(shape, name), own(desired, name), {
      written: own(written, name),
      echo: own(echo, name),
    });
    return settled === undefined ? [] : [[name, settled]];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
