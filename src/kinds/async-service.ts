import type { AsyncServiceManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfReplicas } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** An application that works through a queue. */
export const kind: Kind = applicationKind<AsyncServiceManifest>("async-service", { hardware: hardwareOfReplicas });
