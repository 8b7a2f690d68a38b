import type { SshServerManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfWorkbench } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** A machine to log in to. */
export const kind: Kind = applicationKind<SshServerManifest>("ssh-server", { hardware: hardwareOfWorkbench });
