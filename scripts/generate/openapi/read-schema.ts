import { REF_PREFIX, type Schema, type Schemas } from "../../../src/server/openapi/json-schema.ts";

/** The name in a reference. */
export function refName(ref: string): string {
  return ref.slice(REF_PREFIX.length);
}

/** A schema with its reference resolved; keywords next to the reference take precedence. */
export function resolveSchema(schemas: Schemas, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...beside } = schema;
  return { ...schemas[refName($ref)], ...beside };
}

/** The union with a discriminator in a schema, which may be one of its alternatives. */
export function findUnion(schema: Schema): Schema | undefined {
  return schema.discriminator === undefined
    ? schema.anyOf?.find(({ discriminator }) => discriminator !== undefined)
    : schema;
}

/** The types that a schema allows. */
export function openApiTypes({ type }: Schema): readonly string[] {
  return typeof type === "string" ? [type] : (type ?? []);
}
