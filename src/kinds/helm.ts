import type { HelmManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import type { Kind } from "../core/kind.ts";

/** A release of a Helm chart. */
export const kind: Kind = applicationKind<HelmManifest>("helm");
