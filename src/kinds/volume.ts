import type { VolumeManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfVolume } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** Storage that applications of a workspace mount. */
export const kind: Kind = applicationKind<VolumeManifest>("volume", { hardware: hardwareOfVolume });
