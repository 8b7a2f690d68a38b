import { closestName } from "./closest-name.ts";
import { resolveRef, type SchemaNode, schemaFields, unionVariants } from "./schema-node.ts";

/** A field by the names on its way, with the forms that it takes on that way: `image(build).build_spec`. */
export type ExplainedField = {
  readonly path: string;
  readonly node: SchemaNode;
  readonly isRequired: boolean;
  /** The fields below; those of a list's items where it is a list. */
  readonly fields: readonly ExplainedField[];
  /** The forms of a field whose `type` says which it is, each with its own fields. */
  readonly forms: readonly {
    readonly type: string;
    readonly node: SchemaNode;
    readonly fields: readonly ExplainedField[];
  }[];
};

/** The field at a path, once for each meaning that the path has; or what of the path is unknown, and what may be meant. */
export type Explanation =
  | { readonly is: "found"; readonly fields: readonly ExplainedField[] }
  | {
      readonly is: "unknown";
      readonly name: string;
      readonly near: readonly string[];
      readonly names: readonly string[];
    };

type Place = { readonly path: string; readonly node: SchemaNode; readonly isRequired: boolean };

/** Explains the field at a path such as `ports.port`, `ports[].port` or `image(build).build_spec`; the root for ``. */
export function explainField(schema: SchemaNode, path: string): Explanation {
  let places: readonly Place[] = [{ path: "", node: schema, isRequired: true }];
  for (const segment of path === "" ? [] : path.split(".")) {
    const [, name = segment, form] = /^([^[(]*)(?:\[\])?(?:\(([^)]*)\))?$/.exec(segment) ?? [];
    const next = places.flatMap((place) => childrenOf(schema, place).filter((child) => child.name === name));
    const narrowed = next.flatMap((place) => (form === undefined ? [place] : narrowTo(schema, place, form)));
    if (narrowed.length === 0) return unknownField(schema, places, segment, name);
    places = narrowed;
  }
  return { is: "found", fields: unlike(places).map((place) => explained(schema, place)) };
}

type Child = Place & { readonly name: string };

// The fields of an object, of each of its forms, and of the items of a list.
function childrenOf(schema: SchemaNode, { path, node: given }: Place): readonly Child[] {
  const node = resolveRef(schema, given);
  const own = childrenIn(schema, path, node);
  const forms = unionVariants(schema, node).flatMap((form) => childrenIn(schema, `${path}(${form.type})`, form.node));
  const items =
    node.items === undefined ? [] : childrenOf(schema, { path: `${path}[]`, node: node.items, isRequired: true });
  return [...own, ...forms, ...items];
}

function childrenIn(
  schema: SchemaNode,
  path: string,
  { properties = {}, required = [] }: SchemaNode,
): readonly Child[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    // In a form, `type` only says which form it is.
    if (property.const !== undefined && property.description === undefined) return [];
    const at = path === "" ? name : `${path}.${name}`;
    return [{ name, path: at, node: resolveRef(schema, property), isRequired: required.includes(name) }];
  });
}

function narrowTo(schema: SchemaNode, place: Place, form: string): readonly Place[] {
  const holders = [place.node, ...(place.node.items === undefined ? [] : [resolveRef(schema, place.node.items)])];
  return holders
    .flatMap((node) => unionVariants(schema, node))
    .filter(({ type }) => type === form)
    .map(({ node }) => ({ ...place, path: `${place.path}(${form})`, node }));
}

// Forms often share a field: it is explained once.
function unlike(places: readonly Place[]): readonly Place[] {
  const seen = new Map(places.toReversed().map((place) => [JSON.stringify([place.node, place.isRequired]), place]));
  return [...seen.values()].toReversed();
}

function explained(schema: SchemaNode, place: Place): ExplainedField {
  const { node } = place;
  const holder = node.items === undefined ? node : resolveRef(schema, node.items);
  const leaf = (child: Place): ExplainedField => ({ ...child, fields: [], forms: [] });
  return {
    ...place,
    fields: [...childrenIn(schema, "", node), ...(holder === node ? [] : childrenIn(schema, "", holder))].map(leaf),
    forms: unionVariants(schema, holder).map(({ type, node: form }) => {
      return { type, node: form, fields: childrenIn(schema, "", form).map(leaf) };
    }),
  };
}

const MOST_NEAR = 3;

function unknownField(schema: SchemaNode, places: readonly Place[], segment: string, name: string): Explanation {
  const here = places.flatMap((place) => childrenOf(schema, place));
  const names = [...new Set(here.map((child) => child.name))];
  const near = closestName(name, names);
  const spelled = here.filter((child) => child.name === near).map(({ path }) => plainPath(path));
  const elsewhere = schemaFields(schema).map(({ path }) => plainPath(path));
  const found = [...spelled, ...elsewhere.filter((path) => path.split(".").at(-1) === name)];
  return { is: "unknown", name: segment, near: [...new Set(found)].slice(0, MOST_NEAR), names };
}

function plainPath(path: string): string {
  return path.replaceAll(/\[\]|\([^)]*\)/g, "");
}
