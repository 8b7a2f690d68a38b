import type { RstudioManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfWorkbench } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** RStudio in the browser. */
export const kind: Kind = applicationKind<RstudioManifest>("rstudio", { hardware: hardwareOfWorkbench });
