import type { ModelVersionManifest } from "../contract/generated/manifests.ts";
import type { Kind } from "../core/kind.ts";
import { registryKind, registryRow as row } from "../core/registry-kind.ts";

/** A model version. It is written with `putModelVersion`, an extension; `postModelVersion` is used only where it cannot do harm. */
export const kind: Kind = registryKind<ModelVersionManifest>("model-version", "listModelVersions", {
  writeRoutes: [
    { operation: "putModelVersion", row },
    { operation: "postModelVersion", row: () => null, caution: "registers" },
  ],
  hasMetrics: true,
  needsUpload: ({ source }) => source?.type === "local",
});
