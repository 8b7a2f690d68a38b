import type { ServiceManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfReplicas } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** A service. */
export const kind: Kind = applicationKind<ServiceManifest>("service", { hardware: hardwareOfReplicas });
