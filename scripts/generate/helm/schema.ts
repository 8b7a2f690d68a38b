import type { Value } from "./values-of.ts";

/** The JSON schema of values.yaml, by which Helm refuses what the templates do not know. */
export function schemaOf(values: readonly Value[]): object {
  const { properties, ...rest } = objectSchema(values);
  // Helm adds it where another chart depends on this one.
  const global = { description: "Values that Helm passes on to every chart", type: "object" };
  const head = { $schema: "http://json-schema.org/draft-07/schema#", title: "Values of the chart" };
  return { ...head, ...rest, properties: { ...properties, global } };
}

function objectSchema(values: readonly Value[]) {
  const groups = Map.groupBy(values, ({ path }) => path.split(".")[0] ?? "");
  const properties = [...groups].map(([name, group]): [string, object] => [name, propertySchema(name, group)]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

function propertySchema(name: string, group: readonly Value[]): object {
  const [value] = group;
  if (value === undefined || value.path !== name) {
    return objectSchema(group.map((one) => ({ ...one, path: one.path.slice(name.length + 1) })));
  }
  const { description, content, demands } = value;
  return { description, type: typeOf(content), ...demands, default: content };
}

function typeOf(content: unknown): string {
  if (Array.isArray(content)) return "array";
  return typeof content === "number" ? "integer" : typeof content;
}
