import type { Shape } from "../contract/shape.ts";
import { fieldShape } from "../model/normal-form.ts";

/** A field for people: `image.image_uri`; items of a keyed list are named by their key, as in `ports[8080:TCP].host`. */
export function labelOf(shape: Shape, tokens: readonly string[]): string {
  let label = "";
  let at = shape;
  for (const token of tokens) {
    if (at.is === "list") {
      label += `[${token}]`;
      at = at.items;
    } else {
      label += name(token, label === "");
      at = fieldShape(at, token);
    }
  }
  return label;
}

function name(token: string, isFirst: boolean): string {
  if (!/^[\w-]+$/.test(token)) return `[${JSON.stringify(token)}]`;
  return isFirst ? token : `.${token}`;
}
