import { isObject, type Json } from "../contract/json.ts";
import { describeError, errorPlace } from "./describe-error.ts";
import { freezeWindowFaults } from "./freeze-windows.ts";
import { impossibleDate } from "./rule.ts";
import { error, MAX_SCHEMA_DIAGNOSTICS, type SchemaDiagnostic } from "./schema-diagnostic.ts";
import { applicationSchema, type RequestName, schemaFor, validatorFor } from "./schemas.ts";

/** The result of a validation: at most 100 diagnostics, errors first, and the number of omitted errors. */
export type Validation = { readonly faults: readonly SchemaDiagnostic[]; readonly omitted: number };

/** The maximum number of values in a manifest, nested ones included. */
export const MAX_VALUES = 20_000;
/** The maximum nesting depth. */
export const MAX_DEPTH = 100;

/** Validates a manifest by the schema of its type; at most 100 diagnostics, errors first. */
export function validateManifest(
  type: string,
  value: unknown,
  unknownFields: "refuse" | "warn" = "refuse",
): readonly SchemaDiagnostic[] {
  return checkManifest(type, value, unknownFields).faults;
}

/** Validates a manifest by the schema of its type, and also returns the number of omitted errors. */
export function checkManifest(type: string, value: unknown, unknownFields: "refuse" | "warn" = "refuse"): Validation {
  return type === "config" || type === "policy" ? noSchema() : validate(type, value, unknownFields);
}

/** Validates a configuration file by its schema. */
export function validateConfig(value: unknown): readonly SchemaDiagnostic[] {
  const { faults } = validate("config", value, "refuse");
  return faults.length > 0 ? faults : [...datesOfRules(value), ...freezeWindowFaults(value)];
}

/** Validates a policy file by its schema. */
export function validatePolicy(value: unknown): readonly SchemaDiagnostic[] {
  return validate("policy", value, "refuse").faults;
}

/** Validates an application whose type has no schema: only the fields that all applications share are checked. */
export function checkApplication(value: unknown, unknownFields: "refuse" | "warn" = "refuse"): Validation {
  return validate(applicationSchema, value, unknownFields);
}

/** Validates a body that a daemon takes. */
export function validateRequest(name: RequestName, value: unknown): readonly SchemaDiagnostic[] {
  return validate(name, value, "refuse").faults;
}

function validate(name: string, value: unknown, unknownFields: "refuse" | "warn"): Validation {
  const validator = validatorFor(name);
  if (validator === undefined) return noSchema();
  const bound = exceededLimit(value);
  if (bound !== null) return { faults: [error("", "too-large", `${bound}; split it`)], omitted: 0 };
  if (validator(value)) return { faults: [], omitted: 0 };
  const raws = validator.errors ?? [];
  const schema = schemaFor(name) ?? {};
  const places = { error: new Set<string>(), warning: new Set<string>() };
  const faults = new Map<string, SchemaDiagnostic>();
  for (const raw of raws) {
    const place = errorPlace(raw, unknownFields);
    if (place === null) continue;
    const { pointer, severity } = place;
    const key = severity + pointer;
    // Errors beyond the limit are counted, not described.
    if (places[severity].add(pointer).size > MAX_SCHEMA_DIAGNOSTICS && !faults.has(key)) continue;
    const fault = describeError(schema, value, raw, place);
    if (fault === null) continue;
    // Among several errors at one place, `invalid-form` is the most useful, since it also states the length.
    if (!faults.has(key) || fault.code === "invalid-form") faults.set(key, fault);
  }
  const listed = [...faults.values()].toSorted(
    (a, b) => Number(b.severity === "error") - Number(a.severity === "error"),
  );
  return {
    faults: listed.slice(0, MAX_SCHEMA_DIAGNOSTICS),
    omitted: Math.max(0, places.error.size - MAX_SCHEMA_DIAGNOSTICS),
  };
}

function datesOfRules(value: unknown): readonly SchemaDiagnostic[] {
  const rules = isObject(value) && Array.isArray(value.ignore) ? value.ignore : [];
  return rules.flatMap((rule: Json, index) =>
    isObject(rule) ? impossibleDate(rule.expires, `/ignore/${index}/expires`) : [],
  );
}

function noSchema(): Validation {
  return { faults: [error("/type", "unknown-type", "this type has no schema")], omitted: 0 };
}

/** The reason why a value is too large to be validated; null if it is not. The running time is bounded for any value. */
export function exceededLimit(value: unknown): string | null {
  const size = { count: 0, deepest: 0 };
  measure(value, 1, size);
  if (size.count > MAX_VALUES) return `there are more than ${MAX_VALUES.toLocaleString("en")} values`;
  return size.deepest > MAX_DEPTH ? `values are nested more than ${MAX_DEPTH} deep` : null;
}

// Allocates no memory, since every manifest is measured.
function measure(value: unknown, depth: number, size: { count: number; deepest: number }): void {
  if (!isNested(value)) return;
  size.deepest = Math.max(size.deepest, depth);
  if (Array.isArray(value)) for (const item of value) measureInside(item, depth, size);
  else for (const key in value) measureInside(value[key], depth, size);
}

function measureInside(value: unknown, depth: number, size: { count: number; deepest: number }): void {
  size.count += 1;
  if (size.count <= MAX_VALUES && size.deepest <= MAX_DEPTH) measure(value, depth + 1, size);
}

function isNested(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null;
}
