import { compareText, equal, type Json } from "../contract/json.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import { redactName } from "./connection-secret.ts";
import { CHANGED_MASK, MASK } from "./credential.ts";
import { children, fieldShape } from "./normal-form.ts";
import { isSecretReference, isSensitiveField, redactValue } from "./sensitive-fields.ts";

/**
 * One differing field; a side without it is undefined. Values are not masked: call `redactValue` before showing them.
 */
export type FieldDifference = {
  readonly tokens: readonly string[];
  readonly before: Json | undefined;
  readonly after: Json | undefined;
  readonly sensitive: boolean;
};

/** Every field in which two normalised values differ, down to the leaves, in path order. */
export function differences(
  shape: Shape,
  before: Json | undefined,
  after: Json | undefined,
  at: { readonly tokens: readonly string[]; readonly sensitive: boolean } = { tokens: [], sensitive: false },
): readonly FieldDifference[] {
  if (equal(before, after)) return [];
  const [left, right] = [children(shape, before), children(shape, after)];
  if (!comparable(left, before, right, after)) {
    const open = isSecretReference(before ?? after) && isSecretReference(after ?? before);
    return [{ tokens: at.tokens, before, after, sensitive: at.sensitive && !open }];
  }
  const tokens = [...new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])].toSorted(compareText);
  return tokens.flatMap((token) => {
    const [a, b] = [left?.get(token), right?.get(token)];
    const inner = a?.shape ?? b?.shape ?? shape;
    const sensitive = at.sensitive || isSensitiveField(shape, inner, token, before, after);
    return differences(inner, a?.value, b?.value, { tokens: [...at.tokens, token], sensitive });
  });
}

type Children = ReturnType<typeof children>;

// A container that only one side has is compared child by child, so that each leaf gets its own line, cause and mask.
function comparable(left: Children, before: Json | undefined, right: Children, after: Json | undefined): boolean {
  if (left !== null && right !== null) return Array.isArray(before) === Array.isArray(after);
  return (hasChildren(left) && after === undefined) || (hasChildren(right) && before === undefined);
}

function hasChildren(found: Children): boolean {
  return found !== null && found.size > 0;
}

/**
 * Both sides of a difference as outputs may show them: possible secrets are masked. Within a list or an object, `after`
 * marks those that differ, because both sides would look equal otherwise.
 */
export function redactedSides({ before, after, sensitive }: FieldDifference): {
  readonly before: Json;
  readonly after: Json;
} {
  return {
    before: redactValue(before, sensitive),
    after: redactValue(after, sensitive, (hidden, other) => markChanged(hidden, other, after), before),
  };
}

// A difference that is itself a secret needs no mark.
function markChanged(hidden: Json, other: Json | undefined, whole: Json | undefined): Json {
  return hidden === whole || other === undefined || equal(hidden, other) ? MASK : CHANGED_MASK;
}

/**
 * A field's display name, such as `image.image_uri`, its secrets masked; items of a keyed list are named by their key, as in
 * `ports[8080:TCP].host`.
 */
export function labelOf(shape: Shape, tokens: readonly string[]): string {
  let label = "";
  let at = shape;
  for (const token of tokens) {
    const shown = redactName(token);
    if (at.is === "list") {
      label += `[${shown}]`;
      at = at.items;
    } else {
      label += name(shown, label === "");
      at = fieldShape(at, token);
    }
  }
  return label;
}

function name(token: string, isFirst: boolean): string {
  if (!/^[\w-]+$/.test(token)) return `[${JSON.stringify(token)}]`;
  return isFirst ? token : `.${token}`;
}
