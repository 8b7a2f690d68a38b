import type { SparkJobManifest } from "../contract/generated/manifests.ts";
import { applicationKind } from "../core/application-kind.ts";
import type { Kind } from "../core/kind.ts";

/** A job that Spark runs. */
export const kind: Kind = applicationKind<SparkJobManifest>("spark-job", { hasRuns: true });
