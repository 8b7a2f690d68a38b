import type { JsonObject } from "../contract/json.ts";
import type { Manifest, ManifestHead } from "../core/manifest.ts";
import type { LocateField, Rereading } from "./rereadable-file.ts";

/** A declared resource whose file was recognised by its content and not parsed. */
export type UnparsedManifest = ManifestHead & {
  /** Reads the file and parses it; fails if it has changed since. */
  readonly read: (reading: Rereading) => Promise<JsonObject>;
};

/** A declared resource without its value; `locate` finds its fields in its file. */
export type SourceHead = ManifestHead & { readonly locate: LocateField };

/** A declared resource, and the digest of the document that declares it; absent if the document has none. */
export type SourceManifest = SourceHead & (Manifest | UnparsedManifest) & { readonly digest?: string | undefined };

/** Whether a manifest has its value. */
export function isParsed<One extends ManifestHead>(manifest: One): manifest is One & Manifest {
  return "value" in manifest;
}
