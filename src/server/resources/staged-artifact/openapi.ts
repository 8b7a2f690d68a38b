import { manifestName } from "../../openapi/manifest-name.ts";
import { pick, type Schemas } from "../../openapi/schema.ts";

/** The manifest of a version of a plain artifact. */
export function artifactManifest(schemas: Schemas): Schemas {
  const model = schemas[manifestName("model-version")]?.properties ?? {};
  return {
    ArtifactVersionManifest: {
      title: "Artifact version",
      description: "A version of a plain artifact; whatever else it says is carried",
      type: "object",
      required: ["type", "name", "ml_repo"],
      properties: {
        type: { title: "Type", description: "Kind of manifest: `artifact-version`", const: "artifact-version" },
        ...pick(model, "name", "ml_repo"),
      },
      examples: [{ type: "artifact-version", name: "click-logs", ml_repo: "ranking" }],
    },
  };
}
