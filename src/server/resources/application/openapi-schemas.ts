import { manifestTypes, schemaFor } from "../../../schema/schemas.ts";
import { pickProperties, refTo, type Schema, type Schemas } from "../../openapi/schemas/json-schema.ts";
import { manifestSchemaName } from "../../openapi/schemas/manifest-schema-name.ts";

/** The types of applications that have a schema: those with a workspace. */
export const applicationTypes: readonly string[] = manifestTypes.filter(
  (type) => schemaFor(type)?.properties?.workspace_fqn !== undefined,
);

/** The schemas of application manifests, with one for types without a schema. */
export function applicationSchemas(schemas: Schemas): Schemas {
  const alsoInBody = ["name", "workspace_fqn"];
  const known = applicationTypes.map((type): [string, Schema] => {
    const schema: Schema = schemas[manifestSchemaName(type)] ?? {};
    const required = (schema.required ?? []).filter((field) => !alsoInBody.includes(field));
    return [manifestSchemaName(type), { ...schema, required }];
  });
  const service: Schema = schemas[manifestSchemaName("service")] ?? {};
  return {
    ...Object.fromEntries(known),
    ApplicationManifest: {
      title: "Application",
      description:
        "An application of any type. The types described here are validated completely; of other types only the fields that all applications share. `name` and `workspace_fqn` are required unless they are given in the body next to the manifest",
      type: "object",
      required: ["type"],
      properties: {
        type: {
          title: "Type",
          description: "Type of application; types with other operations are refused",
          type: "string",
          pattern: "^[A-Za-z][A-Za-z0-9_-]{0,62}$",
          "x-form": "1 to 63 letters, digits, '-' or '_', first a letter",
          "x-known": applicationTypes,
          examples: ["service"],
        },
        ...pickProperties(service.properties ?? {}, "name", "workspace_fqn"),
      },
      allOf: applicationTypes.map((type) => ({
        if: { type: "object", properties: { type: { const: type } }, required: ["type"] },
        // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
        then: { $ref: refTo(manifestSchemaName(type)) },
      })),
      examples: service.examples ?? [],
    },
  };
}
