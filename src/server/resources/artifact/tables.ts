import type { Artifact, ModelVersion, PromptVersion } from "../../../contract/generated/resources.ts";
import type { ResourceRow } from "../../database/tables.ts";

/** An artifact as stored: a reply adds the data of its versions. */
export type ArtifactRow = Omit<Artifact, "latest_version" | "run_steps">;

declare module "../../database/tables.ts" {
  interface Tables {
    /** Artifacts by the `type` of their versions (`model-version`, `chat_prompt`, `artifact-version`). */
    readonly artifacts: ResourceRow<ArtifactRow> & {
      readonly type: string;
      readonly ml_repo_id: string;
      readonly name: string;
      /** Number of the newest version, 0 when none is registered. */
      readonly newest: number;
    };
    readonly artifact_versions: ResourceRow<ModelVersion | PromptVersion> & {
      readonly artifact_id: string;
      readonly type: string;
      readonly ml_repo_id: string;
      readonly name: string;
      readonly version: number;
      readonly fqn: string;
      readonly alias: string | null;
      readonly run_id: string | null;
      readonly step: number | null;
    };
  }
}
