import { isObject, type Json } from "../contract/json.ts";
import { tooLarge } from "./bound.ts";
import { impossibleDate } from "./date.ts";
import { error, FAULT_LIMIT, type Fault } from "./fault.ts";
import { validators } from "./generated/validators.js";
import { applicationSchema, schemaFor } from "./known.ts";
import { placeOf, type UnknownFields, worded } from "./wording.ts";

/** Choices of a validation. */
export type ValidateOptions = { readonly unknownFields?: UnknownFields };

/** What is wrong with a value: at most 100 faults, errors first, and the number of errors that are left out. */
export type Validation = { readonly faults: readonly Fault[]; readonly omitted: number };

/** Everything that is wrong with the form of a manifest of the given type; at most 100 faults, errors first. */
export function validateManifest(type: string, value: unknown, options: ValidateOptions = {}): readonly Fault[] {
  return checkManifest(type, value, options).faults;
}

/** The same, with the number of errors beyond the hundred. */
export function checkManifest(type: string, value: unknown, options: ValidateOptions = {}): Validation {
  return type === "config" ? noSchema() : validate(type, value, options);
}

/** Everything that is wrong with the form of a configuration file. */
export function validateConfig(value: unknown): readonly Fault[] {
  const { faults } = validate("config", value, {});
  return faults.length > 0 ? faults : datesOfRules(value);
}

/** Everything that is wrong with an application of a type that has no schema: only what all applications have is known. */
export function checkApplication(value: unknown, options: ValidateOptions = {}): Validation {
  return validate(applicationSchema, value, options);
}

function validate(name: string, value: unknown, { unknownFields = "refuse" }: ValidateOptions): Validation {
  const validator = Object.hasOwn(validators, name) ? validators[name] : undefined;
  const schema = schemaFor(name);
  if (validator === undefined || schema === undefined) return noSchema();
  const bound = tooLarge(value);
  if (bound !== null) return { faults: [error("", "too-large", `${bound}; split it`)], omitted: 0 };
  if (validator(value)) return { faults: [], omitted: 0 };
  const raws = validator.errors ?? [];
  const places = { error: new Set<string>(), warning: new Set<string>() };
  const faults = new Map<string, Fault>();
  for (const raw of raws) {
    const place = placeOf(raw, unknownFields);
    if (place === null) continue;
    const { pointer, severity } = place;
    const key = severity + pointer;
    // What is beyond is counted, and not put into words.
    if (places[severity].add(pointer).size > FAULT_LIMIT && !faults.has(key)) continue;
    const fault = worded(schema, value, raw, place);
    // Of several faults at one place the form says most: a text that is too long seldom has the right form.
    if (!faults.has(key) || fault.code === "invalid-form") faults.set(key, fault);
  }
  const listed = [...faults.values()].toSorted(
    (a, b) => Number(b.severity === "error") - Number(a.severity === "error"),
  );
  return { faults: listed.slice(0, FAULT_LIMIT), omitted: Math.max(0, places.error.size - FAULT_LIMIT) };
}

function datesOfRules(value: unknown): readonly Fault[] {
  const rules = isObject(value) && Array.isArray(value.ignore) ? value.ignore : [];
  return rules.flatMap((rule: Json, index) =>
    isObject(rule) ? impossibleDate(rule.expires, `/ignore/${index}/expires`) : [],
  );
}

function noSchema(): Validation {
  return { faults: [error("/type", "unknown-type", "no schema is known for this type")], omitted: 0 };
}
