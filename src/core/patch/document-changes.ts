import { equal, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import type { Identity } from "../manifest.ts";
import { combinedPatch, patchBetween, splitPatch } from "./patch-between.ts";

/** A document of patches that matches a resource; its patch is null where it cannot be read. */
export type MatchingPatch = { readonly match: string; readonly patch: JsonObject | null };

/** How the patches of a resource have to change: documents with other patches, and what a new document has to patch. */
export type PatchChanges<Document extends MatchingPatch> = {
  readonly changed: ReadonlyMap<Document, JsonObject>;
  /** Null where no new document is needed. */
  readonly added: JsonObject | null;
};

/**
 * The changes to the patches of one resource, in the order in which they are applied, that turn its manifest from `before` to
 * `after`. A field is changed in the document that sets it. A document that may match other resources stays as it is, and
 * what stands before it would be overridden by it.
 */
export function patchChanges<Document extends MatchingPatch>(
  shape: Shape,
  { identity, before, after }: { readonly identity: Identity; readonly before: JsonObject; readonly after: JsonObject },
  documents: readonly Document[],
): PatchChanges<Document> {
  const shared = documents.findLastIndex(({ match, patch }) => match !== identity || patch === null);
  const own = documents.slice(shared + 1);
  const changed = new Map<Document, JsonObject>();
  let rest = patchBetween(shape, before, after);
  for (const document of own.toReversed()) {
    const patch = document.patch ?? {};
    const parts = splitPatch(rest, patch);
    if (!equal(parts.inside, {})) changed.set(document, combinedPatch(shape, patch, parts.inside));
    rest = parts.rest;
  }
  const last = own.at(-1);
  if (equal(rest, {})) return { changed, added: null };
  if (last === undefined) return { changed, added: rest };
  return { changed: changed.set(last, combinedPatch(shape, changed.get(last) ?? last.patch ?? {}, rest)), added: null };
}
