import { manifestSchemaName, pickProperties, type Schemas } from "../../openapi/schemas/json-schema.ts";

/** The schema of the manifest of a plain artifact's version. */
export function artifactSchemas(schemas: Schemas): Schemas {
  const model = schemas[manifestSchemaName("model-version")]?.properties ?? {};
  return {
    ArtifactVersionManifest: {
      title: "Artifact version",
      description: "A version of a plain artifact; other fields are stored as they are",
      type: "object",
      required: ["type", "name", "ml_repo"],
      properties: {
        type: { title: "Type", description: "Kind of manifest: `artifact-version`", const: "artifact-version" },
        ...pickProperties(model, "name", "ml_repo"),
      },
      examples: [{ type: "artifact-version", name: "click-logs", ml_repo: "ranking" }],
    },
  };
}
