import { compareText, equal, type Json } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { children } from "../../model/normal-form.ts";
import { isSecretReference, isSensitiveField } from "../redact/sensitive-fields.ts";

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
