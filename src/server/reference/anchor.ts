/** Where a named schema stands in the page. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** Where a heading stands in the page. */
export function headingAnchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
