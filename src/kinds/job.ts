import type { JobManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import type { Kind } from "../core/kind.ts";

/** A job: each run starts containers and waits for them. */
export const kind: Kind = applicationKind<JobManifest>("job", {
  hasRuns: true,
  startsRun: ({ trigger_on_deploy: trigger }) => trigger === true,
});
