import type { NotebookManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import { hardwareOfWorkbench } from "../core/hardware.ts";
import type { Kind } from "../core/kind.ts";

/** A Jupyter notebook. */
export const kind: Kind = applicationKind<NotebookManifest>("notebook", { hardware: hardwareOfWorkbench });
