import { isObject } from "../contract/json.ts";
import { escapePointer, pointerTokens } from "../contract/json-pointer.ts";
import { redactName } from "../model/connection-secret.ts";
import { escapeName } from "../model/unprintable.ts";
import { closestName } from "./closest-name.ts";
import type { ValidatorError } from "./compiled-validator.ts";
import { type Field, fieldAt } from "./field-at.ts";
import { numberOf } from "./number-in-unit.ts";
import { error, type SchemaDiagnostic, warning } from "./schema-diagnostic.ts";
import { schemaFields } from "./schema-fields.ts";
import { allowedTypes, type SchemaNode, unionVariants } from "./schema-node.ts";

/** How unknown fields are reported. */
export type UnknownFields = "refuse" | "warn";

/** The place and the severity of an error. */
export type ErrorPlace = Pick<SchemaDiagnostic, "pointer" | "severity">;

/** The place of an error of the compiled validator; null when another error describes it better. */
export function errorPlace(raw: ValidatorError, unknownFields: UnknownFields): ErrorPlace | null {
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
      return error(pointer, "invalid-form", "this name is empty or too long");
    case "type":
      return error(pointer, "wrong-type", `${named(pointer)} ${wrongType(field)}`, formOfMap(pointer, field));
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

/** A name as messages show it: truncated, without secrets, with invisible characters and unusual spaces escaped. */
function shown(name: string): string {
  const safe = redactName(name);
  return escapeName(safe.length > 64 ? `${safe.slice(0, 64)}…` : safe);
}

function named(pointer: string): string {
  const [name, list] = pointerTokens(pointer).toReversed();
  if (name === undefined) return "the document";
  return `\`${/^\d+$/.test(name) && list !== undefined ? `${shown(list)}[${name}]` : shown(name)}\``;
}

function missing(pointer: string, schema: SchemaNode, value: unknown): SchemaDiagnostic {
  const tokens = pointerTokens(pointer);
  const { node } = fieldAt(schema, value, tokens);
  const what = node?.description === undefined ? "" : `: ${lowered(node.description)}`;
  const variant = tokens.at(-1) === "type" ? likelyVariant(schema, fieldAt(schema, value, tokens.slice(0, -1))) : null;
  const help = variant === null ? exampleOf(pointer, node) : `Write \`type: ${variant}\`.`;
  return error(pointer, "missing-field", `${named(pointer)} is missing${what}`, help);
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

/** A longer list of names would not be readable. */
const MAX_NAMES = 24;

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function wrongType({ node, value }: Field): string {
  const types = node === undefined ? [] : allowedTypes(node);
  return `must be ${typeWords(node)}${hint(types, value, node?.["x-unit"])}`;
}

// As Kubernetes writes a mapping of names to values. The values are not repeated: they may be secret.
function formOfMap(pointer: string, { node, value }: Field): string | undefined {
  if (node === undefined || !allowedTypes(node).includes("object") || !Array.isArray(value)) return undefined;
  const lines = value.flatMap((item: unknown) =>
    isObject(item) && typeof item.name === "string" && ("value" in item || "valueFrom" in item)
      ? [`${shown(item.name)}: ${"value" in item ? "…" : "secret://tenant:group:key"}`]
      : [],
  );
  if (lines.length === 0 || lines.length !== value.length) return undefined;
  const [name = ""] = pointerTokens(pointer).toReversed();
  const rest = lines.length > MAX_FORMS ? ", …" : "";
  return `Write each \`name\` as a key with its value: \`${shown(name)}: { ${lines.slice(0, MAX_FORMS).join(", ")}${rest} }\`.`;
}

/** More of them would not make the form clearer. */
const MAX_FORMS = 3;

function hint(types: readonly string[], value: unknown, unit?: string): string {
  if (value === null) return ", but has no value";
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean")) return "; quote it";
  if (types.includes("string")) return "";
  if (types.includes("array") && !types.includes("object")) return listHint(value);
  if (typeof value !== "string") return "";
  const numeric = types.some((type) => type === "integer" || type === "number");
  if (numeric && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return "; remove the quotes";
  const number = numeric ? numberOf(value, unit, types.includes("number")) : null;
  if (number !== null) return `; write ${number}`;
  return types.includes("boolean") ? booleanHint(value) : "";
}

function listHint(value: unknown): string {
  // YAML parses `-item` as a string.
  if (typeof value === "string" && /^-[^\s-]/.test(value)) return "; put a space after each `-`";
  return isObject(value) ? "; write `- ` before the first field of each item" : "; write `[…]` around it";
}

// These words were booleans in YAML 1.1.
function booleanHint(value: string): string {
  if (value === "true" || value === "false") return "; remove the quotes";
  if (/^(?:yes|on|y)$/i.test(value)) return "; write true, since in YAML 1.2 this word is a string";
  return /^(?:no|off|n)$/i.test(value) ? "; write false, since in YAML 1.2 this word is a string" : "";
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
  return node?.["x-form"] ?? typeWords(node);
}

function typeWords(node: SchemaNode | undefined): string {
  const unit = node?.["x-unit"] === undefined ? "" : ` (${node["x-unit"]})`;
  const words =
    node === undefined ? [] : allowedTypes(node).map((type) => (TYPE_WORDS[type] ?? type) + unitOf(type, unit));
  return words.length === 0 ? "something else" : words.join(" or ");
}

// The fields of an object have their own units.
function unitOf(type: string, unit: string): string {
  return type === "object" ? "" : unit;
}

const TYPE_WORDS: { readonly [type: string]: string } = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

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

// `HTTP` is no transport protocol, but `app_protocol` beside it has it.
function knownBeside(value: string, { node }: Field): string | undefined {
  for (const [name, each] of Object.entries(node?.properties ?? {})) {
    const known = each["x-known"]?.find((one) => one.toLowerCase() === value.toLowerCase());
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
