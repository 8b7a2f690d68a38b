/** The anchor of a named schema in the page. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** The anchor of a heading in the page. */
export function headingAnchor(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}
