import { components } from "../openapi/components.ts";

/** Whether a named schema is what replies carry. */
export function isResource(name: string): boolean {
  return Object.hasOwn(components, name);
}

/** Whether a named schema has a section of its own; all others are shown where they are used. */
export function hasSection(name: string): boolean {
  return isResource(name) || name.endsWith("Manifest");
}
