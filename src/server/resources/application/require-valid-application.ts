import { shapes } from "../../../contract/generated/shapes.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { unprocessable } from "../../../http/http-error.ts";
import { checkApplication } from "../../../schema/validate.ts";
import type { Context } from "../../context.ts";
import { refuseErrors, requireValidManifest } from "../../manifest/require-valid-manifest.ts";

// The type is part of the identity in the audit.
const TYPE = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

/**
 * The manifest of an application when its form is valid. A type with a schema is validated completely and gets its
 * defaults; of other types only the fields that all applications share are validated.
 */
export function requireValidApplication(context: Context, manifest: JsonObject): JsonObject {
  const { type } = manifest;
  if (typeof type === "string" && !TYPE.test(type)) {
    const message = "must be 1 to 63 letters, digits, '-' or '_', first a letter";
    throw unprocessable([{ pointer: "/type", message, code: "form" }]);
  }
  if (typeof type === "string" && isNoApplication(type)) {
    const message = "this type is not an application; it has an operation of its own";
    throw unprocessable([{ pointer: "/type", message, code: "type" }]);
  }
  if (typeof type === "string" && Object.hasOwn(shapes, type)) return requireValidManifest(context, [type], manifest);
  refuseErrors(checkApplication(manifest, { unknownFields: context.unknownFields === "allow" ? "warn" : "refuse" }));
  return manifest;
}

// Applications are the types that have a workspace.
function isNoApplication(type: string): boolean {
  const shape = Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) return type === "artifact-version";
  return shape.is !== "object" || !Object.hasOwn(shape.fields, "workspace_fqn");
}
