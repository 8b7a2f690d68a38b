import { manifestSchemaName, type Schema, type Schemas } from "../../openapi/json-schema.ts";

/** Name of a secret group. */
export const groupName: Schema = {
  title: "Name",
  description: "Name of the group, unique in the tenant",
  type: "string",
  pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
  "x-form": "1 to 64 letters, digits, '-', '_' or '.', first a letter or digit",
  examples: ["platform"],
};

/** Store of a secret group. */
export const integrationId: Schema = {
  title: "Integration",
  description: "Secret store of the values; `builtin` is the control plane's own",
  type: "string",
  minLength: 1,
  examples: ["builtin"],
};

/** Secrets with their values. */
export const secretList: Schema = {
  title: "Secrets",
  description: "The secrets of the group, each key once; may be empty",
  type: "array",
  items: {
    type: "object",
    required: ["key", "value"],
    properties: {
      key: {
        title: "Key",
        description: "Name of the secret, unique in the group",
        type: "string",
        pattern: "^[A-Za-z0-9_.-]{1,128}$",
        "x-form": "1 to 128 letters, digits, '-', '_' or '.'",
        examples: ["db-password"],
      },
      value: {
        title: "Value",
        description: "The secret value; encrypted at rest, and returned only by the read of a single secret",
        type: "string",
        minLength: 1,
        examples: ["s3cret-Value"],
      },
    },
    additionalProperties: false,
  },
  examples: [[{ key: "db-password", value: "s3cret-Value" }]],
};

/** The manifest of a secret group. */
export function secretGroupSchemas(schemas: Schemas, unknownFields: "refuse" | "allow"): Schemas {
  return {
    SecretGroupManifest: {
      title: "Secret group",
      description: "A group of secrets with their values",
      type: "object",
      required: ["type", "name", "secrets"],
      properties: {
        type: { title: "Type", description: "Kind of manifest: `secret-group`", const: "secret-group" },
        name: groupName,
        integrationId: { ...integrationId, type: ["string", "null"] },
        integration_fqn: { ...integrationId, type: ["string", "null"], description: "The same, as manifests name it" },
        secrets: secretList,
        collaborators: {
          ...schemas[manifestSchemaName("workspace")]?.properties?.collaborators,
          description:
            "Who may use the group's secrets in manifests: the role `secret-group-user`; replaced by each write",
          examples: [[{ subject: "team:ml-platform", role_id: "secret-group-user" }]],
        },
      },
      additionalProperties: unknownFields === "allow",
      examples: [{ type: "secret-group", name: "platform", secrets: [{ key: "db-password", value: "s3cret-Value" }] }],
    },
  };
}
