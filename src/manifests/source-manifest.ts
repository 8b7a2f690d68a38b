import type { JsonObject } from "../contract/json.ts";
import type { Manifest, ManifestHead } from "../core/manifest.ts";

/** A declared resource whose file was recognised by its content and not parsed. */
export type UnparsedManifest = ManifestHead & {
  /** Reads the file and parses it; fails where it has changed since. */
  readonly read: () => JsonObject;
};

/** A declared resource, and the digest of the document that declares it; absent where the document has none. */
export type SourceManifest = (Manifest | UnparsedManifest) & { readonly digest?: string | undefined };

/** The value of a manifest, parsed now where its file was not. */
export function readValue(manifest: SourceManifest): JsonObject {
  return "value" in manifest ? manifest.value : manifest.read();
}

/** The manifest with its value, parsed now where its file was not. */
export function readManifest(manifest: SourceManifest): Manifest & SourceManifest {
  return "value" in manifest ? manifest : { ...manifest, value: manifest.read() };
}
