import type { ErrorDetail } from "../../../contract/generated/resources.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { unprocessable } from "../../../http/http-error.ts";

const forms: readonly { readonly field: string; readonly form: RegExp; readonly says: string }[] = [
  { field: "name", form: /^[A-Za-z0-9_-]{1,256}$/, says: "1 to 256 letters, digits, '-' or '_'" },
  { field: "ml_repo", form: /^[A-Za-z0-9][A-Za-z0-9_.-]{1,99}$/, says: "the name of an ml repo" },
];

/** The manifest of a plain artifact's version when its name and repo are valid; other fields are not checked. */
export function requireValidArtifact(manifest: JsonObject): JsonObject {
  const faults = forms.flatMap(({ field, form, says }): readonly ErrorDetail[] => {
    const value = manifest[field];
    const pointer = `/${field}`;
    if (value === undefined || value === null) return [{ pointer, message: "is required", code: "required" }];
    return typeof value === "string" && form.test(value) ? [] : [{ pointer, message: `must be ${says}`, code: "form" }];
  });
  if (faults.length > 0) throw unprocessable(faults);
  return manifest;
}
