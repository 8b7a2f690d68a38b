import type { WorkflowManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import type { Kind } from "../core/kind.ts";

/** A Flyte workflow. */
export const kind: Kind = applicationKind<WorkflowManifest>("workflow");
