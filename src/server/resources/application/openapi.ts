import { manifestName } from "../../openapi/manifest-name.ts";
import { pick, refTo, type Schema, type Schemas } from "../../openapi/schema.ts";

/** The manifests of applications: services, and all the others. */
export function applicationManifests(schemas: Schemas): Schemas {
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
