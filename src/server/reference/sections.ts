import { components } from "../openapi/components.ts";

/** Whether a named schema is a resource in replies. */
export function isResource(name: string): boolean {
  return Object.hasOwn(components, name);
}

/** Whether a named schema has its own section; others are shown where they are used. */
export function hasSection(name: string): boolean {
  return isResource(name) || name.endsWith("Manifest");
}
