import { resources } from "../openapi/resources.ts";

const names: ReadonlySet<string> = new Set(resources.keys());

/** Whether a named schema is a resource. */
export function isResource(name: string): boolean {
  return names.has(name);
}

/** Whether a named schema has a section of its own; all others are shown where they are used. */
export function hasSection(name: string): boolean {
  return isResource(name) || name.endsWith("Manifest");
}
