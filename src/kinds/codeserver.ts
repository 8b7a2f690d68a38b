import type { CodeserverManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfWorkbench } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** Visual Studio Code in the browser. */
export const kind: Kind = applicationKind<CodeserverManifest>("codeserver", { hardware: hardwareOfWorkbench });
