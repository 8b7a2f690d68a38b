import type { ModelVersionManifest } from "../contract/generated/manifests.ts";
import { isObject, type JsonObject, text } from "../contract/json.ts";
import type { FileUpload, Kind } from "../core/kind.ts";
import { registryKind, registryRow as row } from "../core/registry-kind.ts";

/** The key of a version's metadata that has the digest of its files. */
const DIGEST = "holdfast.digest";

const upload: FileUpload = {
  path: ({ source }) =>
    isLocal(source) ? (text(source.path) ?? text(source.file_or_folder) ?? text(source.uri) ?? "") : null,
  digestIn: ({ metadata }) => (isObject(metadata) ? (text(metadata[DIGEST]) ?? null) : null),
  withDigest: (manifest, digest) => ({
    ...manifest,
    metadata: { ...(isObject(manifest.metadata) ? manifest.metadata : {}), [DIGEST]: digest },
  }),
  storedIn: ({ source }) => (isObject(source) && !isLocal(source) ? source : null),
  withStored: (manifest, source) => ({ ...manifest, source }),
  storedAt: (uri) => ({ type: "platform", uri }),
  toStage: ({ source: _, ...manifest }) => manifest,
};

function isLocal(source: JsonObject[string] | undefined): source is JsonObject {
  return isObject(source) && source.type === "local";
}

/** A model version. It is written with `putModelVersion`, an extension; `postModelVersion` is used only where it cannot do harm. */
export const kind: Kind = registryKind<ModelVersionManifest>("model-version", "listModelVersions", {
  writeRoutes: [
    { operation: "putModelVersion", row },
    { operation: "postModelVersion", row: () => null, caution: "registers" },
  ],
  hasMetrics: true,
  upload,
});
