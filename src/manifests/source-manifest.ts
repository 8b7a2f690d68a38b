import type { JsonObject } from "../contract/json.ts";
import type { Manifest, ManifestHead } from "../core/manifest.ts";
import type { Position } from "../model/position.ts";

/** A declared resource whose file was recognised by its content and not parsed. */
export type UnparsedManifest = ManifestHead & {
  /** Reads the file and parses it; fails where it has changed since. */
  readonly read: () => JsonObject;
};

/** What names a declared resource, and finds its fields in its file. */
export type SourceHead = ManifestHead & {
  /** Where a field stands in the file; reads the document a second time, so for reports alone. */
  readonly locate: (pointer: string) => Position;
};

/** A declared resource, and the digest of the document that declares it; absent where the document has none. */
export type SourceManifest = SourceHead & (Manifest | UnparsedManifest) & { readonly digest?: string | undefined };

/** Where a field stands in its file; without one, where its document starts. */
export function positionOf({ line, locate }: SourceHead, pointer: string | null): Position {
  return pointer === null ? { line, column: 1 } : locate(pointer);
}

/** The value of a manifest, parsed now where its file was not. */
export function readValue(manifest: Manifest | UnparsedManifest): JsonObject {
  return "value" in manifest ? manifest.value : manifest.read();
}

/** The manifest with its value, parsed now where its file was not. */
export function readManifest<One extends Manifest | UnparsedManifest>(manifest: One): One & Manifest {
  return isParsed(manifest) ? manifest : { ...manifest, value: readValue(manifest) };
}

function isParsed<One extends ManifestHead>(manifest: One): manifest is One & Manifest {
  return "value" in manifest;
}
