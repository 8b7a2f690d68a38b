import type { ErrorDetail } from "../../contract/generated/resources.ts";
import { shapes } from "../../contract/generated/shapes.ts";
import { isObject, type JsonObject } from "../../contract/json.ts";
import { fillDefaults } from "../../contract/manifest-shape.ts";
import { unprocessable } from "../../http/http-error.ts";
import type { SchemaDiagnostic } from "../../schema/schema-diagnostic.ts";
import { checkManifest, type Validation } from "../../schema/validate.ts";
import type { Context } from "../context.ts";

/** The manifest with its schema's defaults; refuses an invalid one with all errors. */
export function requireValidManifest(
  { unknownFields }: Pick<Context, "unknownFields">,
  types: readonly string[],
  manifest: JsonObject,
): JsonObject {
  const { type } = manifest;
  if (typeof type !== "string" || !types.includes(type)) {
    throw unprocessable([wrongType(types), ...missingName(manifest)]);
  }
  refuseErrors(checkManifest(type, manifest, unknownFields === "allow" ? "warn" : "refuse"));
  return withDefaults(type, manifest);
}

/** Fills in the defaults of the type's schema. */
function withDefaults(type: string, manifest: JsonObject): JsonObject {
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  const filled = shape === undefined ? manifest : fillDefaults(shape, manifest);
  return isObject(filled) ? filled : manifest;
}

/** Refuses (422) when there is an error. */
export function refuseErrors({ faults, omitted }: Validation): void {
  const details = errorDetails(faults);
  if (details.length > 0) throw unprocessable(details, omitted);
}

/** The errors among the diagnostics, as details of a reply. */
export function errorDetails(faults: readonly SchemaDiagnostic[]): readonly ErrorDetail[] {
  return faults
    .filter(({ severity }) => severity === "error")
    .map(({ pointer, message, help, code }) => {
      return { pointer, message: help === undefined ? message : `${message}. ${help}`, code };
    });
}

function wrongType(types: readonly string[]): ErrorDetail {
  return { pointer: "/type", message: `must be ${types.map((type) => `\`${type}\``).join(" or ")}`, code: "type" };
}

// Without a type there is no schema, but every manifest has a name.
function missingName({ name }: JsonObject): readonly ErrorDetail[] {
  return name === undefined || name === null
    ? [{ pointer: "/name", message: "`name` is missing", code: "missing-field" }]
    : [];
}

/** The text of a field that the schema requires; the manifest must be valid. */
export function requiredText(manifest: JsonObject, field: string): string {
  const value = manifest[field];
  if (typeof value !== "string") throw new TypeError(`the manifest was not validated: it lacks ${field}`);
  return value;
}

/** The name in a validated manifest. */
export function requiredName(manifest: JsonObject): string {
  return requiredText(manifest, "name");
}
