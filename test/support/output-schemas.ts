import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";

const folder = join(import.meta.dirname, "../../schemas/output");
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
const schemas = new Map(
  readdirSync(folder).map((file): [string, AnySchemaObject] => [
    file.replace(/\.json$/, ""),
    JSON.parse(readFileSync(join(folder, file), "utf8")),
  ]),
);
for (const schema of schemas.values()) ajv.addSchema(schema);

/** What a text breaks of the schema of a document; nothing where it keeps to it. */
export function faultsOf(document: string, text: string): readonly unknown[] {
  const validate = ajv.getSchema(schemas.get(document)?.$id ?? "");
  if (validate === undefined) throw new Error(`no schema of ${document}`);
  return validate(JSON.parse(text)) ? [] : [validate.errors];
}
