import { manifestSchemaName } from "../../openapi/manifest-schema-name.ts";
import type { Schema, Schemas } from "../../openapi/schema.ts";

/** The manifest of a virtual account, and what stands for one of a personal access token. */
export function accountSchemas(schemas: Schemas): Schemas {
  const account: Schema = schemas[manifestSchemaName("virtual-account")] ?? {};
  const { minItems, ...permissions }: Schema = account.properties?.permissions ?? {};
  return {
    AccountManifest: {
      title: "Account",
      description: "The manifest of a virtual account; what stands for one of a personal access token has fewer fields",
      type: "object",
      required: ["type", "name"],
      properties: {
        ...account.properties,
        type: { description: "Kind of manifest", type: "string" },
        name: { description: "Name of the account or token", type: "string" },
        // A person's token has the person's own rights.
        permissions,
      },
      additionalProperties: true,
      examples: account.examples ?? [],
    },
  };
}
