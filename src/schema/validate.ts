import { isObject, type Json } from "../contract/json.ts";
import { tooLarge } from "./bound.ts";
import { impossibleDate } from "./date.ts";
import { error, FAULT_LIMIT, type Fault } from "./fault.ts";
import { validators } from "./generated/validators.js";
import { schemaFor } from "./known.ts";
import { type UnknownFields, worded } from "./wording.ts";

/** Choices of a validation. */
export type ValidateOptions = { readonly unknownFields?: UnknownFields };

/** Everything that is wrong with the form of a manifest of the given type; at most 100 faults, errors first. */
export function validateManifest(type: string, value: unknown, options: ValidateOptions = {}): readonly Fault[] {
  return type === "config" ? [noSchema()] : validate(type, value, options);
}

/** Everything that is wrong with the form of a configuration file. */
export function validateConfig(value: unknown): readonly Fault[] {
  const faults = validate("config", value, {});
  return faults.length > 0 ? faults : datesOfRules(value);
}

/**
 * Everything that is wrong with an application of another type than `service`: its name, type and workspace, and the
 * fields that it shares with services; the rest is free.
 */
export function validateApplication(value: unknown, options: ValidateOptions = {}): readonly Fault[] {
  if (!isObject(value)) return validate("service", value, options);
  const named = typeof value.type === "string" && value.type !== "" ? { type: "service" } : {};
  const image = value.image ?? { type: "image", image_uri: "-" };
  return validate("service", { ...value, ...named, image }, options).filter(
    ({ code, pointer }) => code !== "unknown-field" || pointer.lastIndexOf("/") > 0,
  );
}

function validate(name: string, value: unknown, { unknownFields = "refuse" }: ValidateOptions): readonly Fault[] {
  const validator = Object.hasOwn(validators, name) ? validators[name] : undefined;
  const schema = schemaFor(name);
  if (validator === undefined || schema === undefined) return [noSchema()];
  const bound = tooLarge(value);
  if (bound !== null) return [error("", "too-large", `${bound}; split it`)];
  if (validator(value)) return [];
  const faults = new Map<string, Fault>();
  let errors = 0;
  for (const raw of validator.errors ?? []) {
    // What comes after so many errors would be cut off again.
    if (errors > FAULT_LIMIT || faults.size > 3 * FAULT_LIMIT) break;
    const fault = worded(schema, value, raw, unknownFields);
    if (fault === null) continue;
    const place = `${fault.severity}${fault.pointer}`;
    const known = faults.get(place);
    // Of several faults at one place the form says most: a text that is too long seldom has the right form.
    if (known === undefined || fault.code === "invalid-form") faults.set(place, fault);
    if (known === undefined && fault.severity === "error") errors++;
  }
  return [...faults.values()]
    .toSorted((a, b) => Number(b.severity === "error") - Number(a.severity === "error"))
    .slice(0, FAULT_LIMIT);
}

function datesOfRules(value: unknown): readonly Fault[] {
  const rules = isObject(value) && Array.isArray(value.ignore) ? value.ignore : [];
  return rules.flatMap((rule: Json, index) =>
    isObject(rule) ? impossibleDate(rule.expires, `/ignore/${index}/expires`) : [],
  );
}

function noSchema(): Fault {
  return error("/type", "unknown-type", "no schema is known for this type");
}
