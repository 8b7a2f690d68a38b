import type { InterceptManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import type { Kind } from "../core/kind.ts";

/** Rules that lead requests of a service elsewhere. */
export const kind: Kind = applicationKind<InterceptManifest>("intercept");
