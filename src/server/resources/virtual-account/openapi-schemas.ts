import type { Schema, Schemas } from "../../openapi/schemas/json-schema.ts";
import { manifestSchemaName } from "../../openapi/schemas/manifest-schema-name.ts";

/** The schema of an account's manifest in replies, for virtual accounts and personal access tokens. */
export function accountSchemas(schemas: Schemas): Schemas {
  const account: Schema = schemas[manifestSchemaName("virtual-account")] ?? {};
  const { minItems, ...permissions }: Schema = account.properties?.permissions ?? {};
  return {
    AccountManifest: {
      title: "Account",
      description: "The manifest of a virtual account; for a personal access token it has fewer fields",
      type: "object",
      required: ["type", "name"],
      properties: {
        ...account.properties,
        type: { description: "Kind of manifest", type: "string" },
        name: { description: "Name of the account or token", type: "string" },
        // A personal access token has no permissions of its own.
        permissions,
      },
      additionalProperties: true,
      examples: account.examples ?? [],
    },
  };
}
