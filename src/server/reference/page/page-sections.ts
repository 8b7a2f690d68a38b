import { replySchemas } from "../../openapi/schemas/reply-schemas.ts";

/** Whether a named schema is a resource in replies. */
export function isResource(name: string): boolean {
  return Object.hasOwn(replySchemas, name);
}

/** Whether a named schema has its own section; others are shown where they are used. */
export function hasSection(name: string): boolean {
  return isResource(name) || name.endsWith("Manifest");
}

/** The anchor of a named schema in the page. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** The anchor of a heading in the page. */
export function headingAnchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
