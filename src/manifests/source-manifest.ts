import type { Manifest } from "../core/manifest.ts";

/** A manifest, and the digest of the document that declares it; absent where the document has none. */
export type SourceManifest = Manifest & { readonly digest?: string | undefined };
