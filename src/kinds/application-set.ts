// src/kinds: one file for each kind. See docs/architecture.md#a-new-kind.

import type { ApplicationSetManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import type { Kind } from "../core/kind.ts";

/** Applications that are created together, from a list or a template. */
export const kind: Kind = applicationKind<ApplicationSetManifest>("application-set");
