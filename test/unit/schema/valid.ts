import type { JsonObject } from "../../../src/contract/json.ts";
import { schemaFor } from "../../../src/schema/schemas.ts";

/** The least valid manifest of each type. */
export const least: { readonly [type: string]: JsonObject } = {
  workspace: { type: "workspace", name: "ranking", cluster_fqn: "prod-eu" },
  cluster: { type: "cluster", name: "prod-eu", cluster_type: "aws-eks" },
  service: {
    type: "service",
    name: "ranker",
    workspace_fqn: "prod-eu:ranking",
    image: { type: "image", image_uri: "registry.example.com/ranker:1" },
  },
  "virtual-account": {
    type: "virtual-account",
    name: "ci",
    permissions: [{ resource_fqn: "prod-eu:ranking", resource_type: "workspace", role_id: "workspace-editor" }],
  },
  team: { type: "team", name: "ml", members: ["ada@example.com"] },
  "sso-team": { type: "sso-team", name: "ml" },
  "ml-repo": { type: "ml-repo", name: "ranking" },
  "model-version": { type: "model-version", name: "ranker", ml_repo: "ranking" },
  chat_prompt: {
    type: "chat_prompt",
    name: "answer",
    ml_repo: "support",
    messages: [{ role: "system", content: "Be kind." }],
  },
};

// The example of a schema has what the type needs.
function exampleOf(type: string): JsonObject {
  const [example] = schemaFor(type)?.examples ?? [];
  return example as JsonObject;
}

/** The least valid manifest of a type with some fields replaced or added. */
export function manifest(type: string, fields: JsonObject = {}): JsonObject {
  return { ...(least[type] ?? exampleOf(type)), ...fields };
}
