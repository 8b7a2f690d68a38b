import { manifestName } from "./manifest-name.ts";
import { refTo, type Schema, type Schemas } from "./schema.ts";
import { groupName, integrationId, secretList } from "./secret-members.ts";

/** The manifests of applications: services, and all the others. */
export function serviceManifests(schemas: Schemas): Schemas {
  const service: Schema = schemas[manifestName("service")] ?? {};
  const beside = ["name", "workspace_fqn"];
  return {
    [manifestName("service")]: {
      ...service,
      required: (service.required ?? []).filter((field) => !beside.includes(field)),
    },
    ApplicationManifest: {
      title: "Application",
      description:
        "An application of any type. Of type `service` it is checked whole; of other types the fields that they share with services are checked, and the rest is free. `name` and `workspace_fqn` are required unless the body names them beside the manifest",
      type: "object",
      required: ["type"],
      properties: {
        type: {
          title: "Type",
          description: "Kind of application; types of other operations are refused",
          type: "string",
          pattern: "^[A-Za-z][A-Za-z0-9_-]{0,62}$",
          "x-form": "1 to 63 letters, digits, '-' or '_', first a letter",
          "x-known": ["service", "async-service", "job", "spark-job", "helm", "notebook", "volume", "workflow"],
          examples: ["service", "job"],
        },
        ...pick(service.properties ?? {}, "name", "workspace_fqn"),
      },
      allOf: [
        {
          if: { type: "object", properties: { type: { const: "service" } }, required: ["type"] },
          // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
          then: { $ref: refTo(manifestName("service")) },
        },
      ],
      examples: service.examples ?? [],
    },
  };
}

/** Manifests of operations that take a type without a file in `schemas/`. */
export function unfiledManifests(schemas: Schemas, unknownFields: "refuse" | "allow"): Schemas {
  const account: Schema = schemas[manifestName("virtual-account")] ?? {};
  const { minItems, ...permissions }: Schema = account.properties?.permissions ?? {};
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
    SecretGroupManifest: {
      title: "Secret group",
      description: "A group of secrets with their values",
      type: "object",
      required: ["type", "name", "secrets"],
      properties: {
        type: { title: "Type", description: "Kind of manifest: `secret-group`", const: "secret-group" },
        name: groupName,
        integrationId: { ...integrationId, type: ["string", "null"] },
        secrets: secretList,
        collaborators: {
          ...schemas[manifestName("workspace")]?.properties?.collaborators,
          description:
            "Who may use the group's secrets in manifests: the role `secret-group-user`; replaced by each write",
          examples: [[{ subject: "team:ml-platform", role_id: "secret-group-user" }]],
        },
      },
      additionalProperties: unknownFields === "allow",
      examples: [{ type: "secret-group", name: "platform", secrets: [{ key: "db-password", value: "s3cret-Value" }] }],
    },
    AccountManifest: {
      title: "Account",
      description: "The manifest of a virtual account; what stands for one of a personal access token has fewer fields",
      type: "object",
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

function pick(properties: Schemas, ...names: readonly string[]): Schemas {
  return Object.fromEntries(
    names.flatMap((name) => {
      const found = properties[name];
      return found === undefined ? [] : [[name, found]];
    }),
  );
}
