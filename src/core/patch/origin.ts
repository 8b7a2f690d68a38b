// src/core/patch: what a patch makes of a manifest, and where each value then stands. See docs/manifests.md#patches.

import { escapePointer, pointerTokens } from "../../contract/json-pointer.ts";

/** A value by the document that sets it, 0 for the manifest and n for its nth patch, and by its JSON Pointer there. */
export type OriginPlace = { readonly from: number; readonly pointer: string };

/** Where a value comes from. What is not listed in `below` stands under the same name in the same document. */
export type Origin = OriginPlace & { readonly below?: ReadonlyMap<string, Origin> };

/** The origin of a manifest that nothing has patched yet. */
export const UNPATCHED: Origin = { from: 0, pointer: "" };

/** Where the field at a JSON Pointer stands; for a removed one, what removes it. */
export function originAt(origin: Origin, pointer: string): OriginPlace {
  const { from, pointer: place } = pointerTokens(pointer).reduce(originBelow, origin);
  return { from, pointer: place };
}

/** The origin of a field or an item of a value. */
export function originBelow(origin: Origin, token: string): Origin {
  return origin.below?.get(token) ?? { from: origin.from, pointer: `${origin.pointer}/${escapePointer(token)}` };
}
