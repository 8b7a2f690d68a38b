import { isObject } from "../../contract/json.ts";
import type { OpenApiDocument } from "./document-types.ts";

type Components = Pick<OpenApiDocument["components"], "schemas" | "parameters" | "responses">;

/** The document without unused components. */
export function pruneComponents(document: OpenApiDocument): OpenApiDocument {
  const { components } = document;
  const found = new Set<string>();
  const follow = (value: unknown): void => {
    for (const ref of refsIn(value)) {
      if (found.has(ref)) continue;
      found.add(ref);
      follow(componentAt(components, ref));
    }
  };
  follow(document.paths);
  const kept = <Value>(section: keyof Components, all: { readonly [name: string]: Value }) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => found.has(`#/components/${section}/${name}`)));
  return {
    ...document,
    components: {
      ...components,
      parameters: kept("parameters", components.parameters),
      responses: kept("responses", components.responses),
      schemas: kept("schemas", components.schemas),
    },
  };
}

function componentAt(components: Components, ref: string): unknown {
  const [, , section = "", name = ""] = ref.split("/");
  const all = Object.hasOwn(components, section) ? components[section as keyof Components] : {};
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

function refsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : refsIn(inner),
  );
}
