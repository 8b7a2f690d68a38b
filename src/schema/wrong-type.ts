import { isObject } from "../contract/json.ts";
import { pointerTokens } from "../contract/json-pointer.ts";
import { numberOf } from "./number-in-unit.ts";
import { error, listed, named, type SchemaDiagnostic, shown } from "./schema-diagnostic.ts";
import { allowedTypes, type Field, fieldAt, type SchemaNode } from "./schema-node.ts";

/** The error for a value of a type that its field does not have. */
export function wrongType(pointer: string, schema: SchemaNode, value: unknown): SchemaDiagnostic {
  const tokens = pointerTokens(pointer);
  const field = fieldAt(schema, value, tokens);
  const item = fieldAt(schema, value, [...tokens, "0"]);
  const types = field.node === undefined ? [] : allowedTypes(field.node);
  if (isLiteral(types, field)) {
    const message = `${named(pointer)} must name where the value is: a manifest never holds a secret itself`;
    return error(pointer, "literal-value", message, LITERAL_HELP);
  }
  const how = hint(types, field, item);
  const message = `${named(pointer)} must be ${expectedTypes(field.node)}${how}`;
  return error(pointer, "wrong-type", message, how === "" ? help(types, pointer, field, item) : undefined);
}

const LITERAL_HELP =
  "Write `{ from: NAME }`, with a name from the operator's `secretSources`. Only a seed, which `holdfast serve --seed` reads, may hold values: keep it outside of this source, or list it in .holdfastignore.";

// A value in the place of its reference.
function isLiteral(types: readonly string[], { node, value }: Field): boolean {
  const isReference = node?.["x-sensitive"] === true && types.every((type) => type === "object");
  return isReference && value !== null && value !== undefined && !isObject(value);
}

function hint(types: readonly string[], { node, value }: Field, item: Field): string {
  if (value === null) return ", but has no value";
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean")) return "; quote it";
  if (types.includes("string")) return "";
  if (types.includes("array") && !types.includes("object")) return listHint(value, item);
  if (typeof value !== "string") return "";
  const numeric = isNumeric(types);
  if (numeric && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)) return "; remove the quotes";
  const number = numeric ? numberOf(value, node?.["x-unit"], types.includes("number")) : null;
  if (number !== null) return `; write ${number}`;
  return types.includes("boolean") ? booleanHint(value) : "";
}

function isNumeric(types: readonly string[]): boolean {
  return types.includes("integer") || types.includes("number");
}

function listHint(value: unknown, item: Field): string {
  // YAML parses `-item` as a string.
  if (typeof value === "string" && /^-[^\s-]/.test(value)) return "; put a space after each `-`";
  const hasFields = item.node !== undefined && allowedTypes(item.node).includes("object");
  if (isObject(value)) return hasFields ? "; write `- ` before the first field of each item" : "";
  return hasFields ? "" : "; write `[…]` around it";
}

// These words were booleans in YAML 1.1.
function booleanHint(value: string): string {
  if (value === "true" || value === "false") return "; remove the quotes";
  if (/^(?:yes|on|y)$/i.test(value)) return "; write true, since in YAML 1.2 this word is a string";
  return /^(?:no|off|n)$/i.test(value) ? "; write false, since in YAML 1.2 this word is a string" : "";
}

function help(types: readonly string[], pointer: string, field: Field, item: Field): string | undefined {
  const { node, value, names } = field;
  const isMap = types.includes("object") && names.length === 0;
  const form = isMap ? formOfMap(pointer, value) : undefined;
  if (form !== undefined) return form;
  if (typeof value === "string" && isNumeric(types) && /^[-+.]?\d/.test(value)) return numberExample(pointer, node);
  if (types.includes("object")) return fieldsOf("Its fields are", names);
  return types.includes("array") ? fieldsOf("The fields of each item are", item.names) : undefined;
}

// The `type` of a union does not show what its variants have.
function fieldsOf(what: string, names: readonly string[]): string | undefined {
  return names.some((name) => name !== "type") ? `${what} ${listed(names)}.` : undefined;
}

// For a suffix that means nothing in the unit.
function numberExample(pointer: string, node: SchemaNode | undefined): string | undefined {
  const example = node?.examples?.find((each) => typeof each === "number");
  if (example === undefined) return undefined;
  const unit = node?.["x-unit"] === undefined ? "" : `, in ${node["x-unit"]}`;
  return `For example: \`${shown(pointerTokens(pointer).at(-1) ?? "")}: ${example}\`${unit}.`;
}

// As Kubernetes and Compose write a mapping of names to values. The values are not repeated: they may be secret.
function formOfMap(pointer: string, value: unknown): string | undefined {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  const entries = items.map(entryOf);
  if (entries.length === 0 || entries.includes(null)) return undefined;
  const name = shown(pointerTokens(pointer).at(-1) ?? "");
  const rest = entries.length > MAX_FORMS ? ", …" : "";
  return `Write each name as a key with its value: \`${name}: { ${entries.slice(0, MAX_FORMS).join(", ")}${rest} }\`.`;
}

/** More of them would not make the form clearer. */
const MAX_FORMS = 3;

// `{name: A, value: b}`, `{name: A, valueFrom: …}`, `{A: b}` or `A=b`.
function entryOf(item: unknown): string | null {
  if (typeof item === "string") {
    const [, name] = /^([\w./-]{1,128})=/.exec(item) ?? [];
    return name === undefined ? null : `${shown(name)}: …`;
  }
  if (!isObject(item)) return null;
  if (typeof item.name === "string")
    return `${shown(item.name)}: ${"valueFrom" in item ? "secret://tenant:group:key" : "…"}`;
  const [name, ...others] = Object.keys(item);
  return name === undefined || others.length > 0 ? null : `${shown(name)}: …`;
}

/** The types of a field in words, with its unit. */
export function expectedTypes(node: SchemaNode | undefined): string {
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
