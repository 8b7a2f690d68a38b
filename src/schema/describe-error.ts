import { isObject } from "../contract/json.ts";
import { escapePointer, pointerTokens } from "../contract/json-pointer.ts";
import { closestName } from "./closest-name.ts";
import { error, listed, named, type SchemaDiagnostic, shown, warning } from "./schema-diagnostic.ts";
import { type Field, fieldAt, type SchemaNode, schemaFields, unionVariants } from "./schema-node.ts";
import type { ValidatorError } from "./schemas.ts";
import { expectedTypes, wrongType } from "./wrong-type.ts";

/** The place and the severity of an error. */
export type ErrorPlace = { readonly pointer: string; readonly severity: SchemaDiagnostic["severity"] };

/** The place of an error of the compiled validator; null when another error describes it better. */
export function errorPlace(raw: ValidatorError, unknownFields: "refuse" | "warn"): ErrorPlace | null {
  const { instancePath: pointer, keyword, params } = raw;
  // A failed branch of a union has its own errors, and so has a field with an invalid name.
  if (keyword === "if" || raw.propertyName !== undefined) return null;
  const below = (name: unknown) => `${pointer}/${escapePointer(String(name))}`;
  switch (keyword) {
    case "required":
      return { pointer: below(params.missingProperty), severity: "error" };
    case "additionalProperties":
      return {
        pointer: below(params.additionalProperty),
        severity: unknownFields === "warn" ? "warning" : "error",
      };
    case "propertyNames":
      return { pointer: below(params.propertyName), severity: "error" };
    default:
      return { pointer, severity: keyword === "x-known" ? "warning" : "error" };
  }
}

/** Describes an error of the compiled validator for people; null if it is not worth a report, as for a custom value. */
export function describeError(
  schema: SchemaNode,
  value: unknown,
  raw: ValidatorError,
  place: ErrorPlace,
): SchemaDiagnostic | null {
  const { instancePath, keyword, params } = raw;
  const { pointer } = place;
  const field = fieldAt(schema, value, pointerTokens(instancePath));
  switch (keyword) {
    case "required":
      return missing(pointer, schema, value);
    case "additionalProperties":
      return unknown(place, String(params.additionalProperty), schema, field);
    case "propertyNames":
      return { ...error(pointer, "invalid-form", nameFault(String(params.propertyName))), isAboutName: true };
    case "type":
      return wrongType(pointer, schema, value);
    case "x-known":
      return unknownValue(pointer, field, fieldAt(schema, value, pointerTokens(instancePath).slice(0, -1)));
    case "const":
    case "enum":
      return error(pointer, "invalid-value", `${named(pointer)} must be ${choices(field, params)}`);
    case "pattern":
      return error(
        pointer,
        "invalid-form",
        `${named(pointer)} ${tooShort(field)}must be ${expected(field.node)}${lengthOf(field)}`,
      );
    default:
      return limit(pointer, keyword, Number(params.limit), field);
  }
}

function missing(pointer: string, schema: SchemaNode, value: unknown): SchemaDiagnostic {
  const tokens = pointerTokens(pointer);
  const { node } = fieldAt(schema, value, tokens);
  const what = node?.description === undefined ? "" : `: ${lowered(node.description)}`;
  const variant = tokens.at(-1) === "type" ? likelyVariant(schema, fieldAt(schema, value, tokens.slice(0, -1))) : null;
  const help = variant === null ? exampleOf(pointer, node) : `Write \`type: ${variant}\`.`;
  return error(pointer, "missing-field", `${named(pointer)} is missing${what}`, help);
}

function nameFault(name: string): string {
  return name === "" ? "this name is empty" : `this name is too long: it has ${name.length} characters`;
}

// The variant of a union that has all the present fields; null if none or several have them.
function likelyVariant(schema: SchemaNode, { node, value }: Field): string | null {
  if (node === undefined || !isObject(value) || Object.keys(value).length === 0) return null;
  const fits = unionVariants(schema, node).filter((variant) => {
    const known = { ...node.properties, ...variant.node.properties };
    return Object.keys(value).every((name) => Object.hasOwn(known, name));
  });
  const [first, ...others] = fits;
  return first !== undefined && others.length === 0 ? first.type : null;
}

// Only scalars have an example, since objects are described by their fields.
function exampleOf(pointer: string, node: SchemaNode | undefined): string | undefined {
  const [example] = node?.examples ?? [];
  const [name = ""] = pointerTokens(pointer).toReversed();
  return typeof example === "string" || typeof example === "number"
    ? `For example: \`${shown(name)}: ${example}\`.`
    : undefined;
}

function unknown(
  { pointer, severity }: ErrorPlace,
  name: string,
  schema: SchemaNode,
  { names }: Field,
): SchemaDiagnostic {
  const near = closestName(name, names) ?? names.find((one) => one.startsWith(`${name}_`));
  const hint = near === undefined ? elsewhere(name, schema, pointer) : `; did you mean \`${near}\`?`;
  const message = `unknown field \`${shown(name)}\`${hint}`;
  const help = hint === "" ? `The fields here are ${listed(names)}.` : undefined;
  return severity === "warning"
    ? warning(pointer, "unknown-field", message, help)
    : error(pointer, "unknown-field", message, help);
}

// A field at the wrong depth is a common mistake of indentation.
function elsewhere(name: string, schema: SchemaNode, pointer: string): string {
  // Each union has a `type` of its own.
  if (name === "type") return "";
  // The field is already at this path in another variant of the union.
  const here = pathOf(pointer);
  const places = schemaFields(schema).flatMap(({ path }) => (path.endsWith(`.${name}`) && path !== here ? path : []));
  const inside = places.find((path) => path.startsWith(here.slice(0, -name.length)));
  if (inside !== undefined && here !== name) return `; did you mean \`${inside}\`?`;
  const [place] = places;
  return place === undefined ? "" : `; it belongs in \`${place.slice(0, -name.length - 1)}\``;
}

function pathOf(pointer: string): string {
  return pointer
    .slice(1)
    .replaceAll(/\/\d+(?=\/|$)/g, "[]")
    .replaceAll("/", ".");
}

function tooShort({ node, value }: Field): string {
  const { minLength = 0 } = node ?? {};
  return typeof value === "string" && value.length > 0 && value.length < minLength ? "is too short: it " : "";
}

/** The actual length, when it is over the limit. */
function lengthOf({ node, value }: Field): string {
  const { maxLength } = node ?? {};
  if (typeof value !== "string" || maxLength === undefined || value.length <= maxLength) return "";
  return `; it has ${value.length}`;
}

function expected(node: SchemaNode | undefined): string {
  return node?.["x-form"] ?? expectedTypes(node);
}

function unknownValue(pointer: string, { node, value }: Field, beside: Field): SchemaDiagnostic | null {
  const values = (node?.["x-known"] ?? []).map((name) =>
    name.startsWith("*") ? `anything ending in ${name.slice(1)}` : name,
  );
  const near = typeof value === "string" ? closestName(value, values) : undefined;
  const message = `${named(pointer)} has an unknown value`;
  if (near !== undefined) return warning(pointer, "unknown-value", `${message}; did you mean \`${near}\`?`);
  if (node?.["x-custom"]) return null;
  const other = typeof value === "string" ? knownBeside(value, beside) : undefined;
  if (other !== undefined) return warning(pointer, "unknown-value", `${message}; did you mean \`${other}\`?`);
  return warning(pointer, "unknown-value", message, `The known values are ${values.join(", ")}.`);
}

// `HTTP` and `HTTPS` are no transport protocols, but `app_protocol` beside has `http`.
function knownBeside(value: string, { node }: Field): string | undefined {
  for (const [name, each] of Object.entries(node?.properties ?? {})) {
    const known = closestName(value, each["x-known"] ?? []);
    if (known !== undefined) return `${name}: ${known}`;
  }
  return undefined;
}

function choices({ node }: Field, params: ValidatorError["params"]): string {
  const values = node?.enum ?? (Array.isArray(params.allowedValues) ? params.allowedValues : [params.allowedValue]);
  return values
    .filter((value) => value !== null)
    .map((value) => `\`${String(value)}\``)
    .join(" or ");
}

function limit(pointer: string, keyword: string, bound: number, { node }: Field): SchemaDiagnostic {
  const unit = node?.["x-unit"] === undefined ? "" : ` (${node["x-unit"]})`;
  const words: { readonly [keyword: string]: string } = {
    minimum: `at least ${bound}${unit}`,
    exclusiveMinimum: `more than ${bound}${unit}`,
    maximum: `at most ${bound}${unit}`,
  };
  const range = words[keyword];
  if (range !== undefined) return error(pointer, "out-of-range", `${named(pointer)} must be ${range}`);
  const size: { readonly [keyword: string]: string } = {
    minLength: bound === 1 ? "must not be empty" : `must have at least ${bound} characters`,
    maxLength: `must have at most ${bound} characters`,
    minItems: bound === 1 ? "must have at least one item" : `must have at least ${bound} items`,
    maxItems: `must have at most ${bound} items`,
    maxProperties: `must have at most ${bound} fields`,
  };
  return error(pointer, "out-of-range", `${named(pointer)} ${size[keyword] ?? "does not match its schema"}`);
}

function lowered(description: string): string {
  const [first = ""] = description.split(";");
  return /^[A-Z][^A-Z]/.test(first) ? first.slice(0, 1).toLowerCase() + first.slice(1) : first;
}
