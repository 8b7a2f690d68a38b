import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import { HttpError } from "../../http/http-error.ts";
import { systemPrincipal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";

/** The principal that creates seeded resources. */
export const seedPrincipal = systemPrincipal("seed");

/** Calls an operation as the seed principal, with a body or for one fqn, and returns the reply. */
export type CallOperation = (
  name: OperationName,
  request: { readonly body?: JsonObject; readonly fqn?: string },
) => Promise<Json>;

/** How manifests of a type are seeded. */
export type SeedRule = {
  readonly operation: OperationName;
  /** Whether the resource of the manifest exists. */
  readonly exists: (manifest: JsonObject, call: CallOperation) => Promise<boolean>;
  /** Work before the check and the write. */
  readonly prepare?: (manifest: JsonObject, context: Context) => Promise<void>;
};

/** Seeds a resource when a dry run shows that it is new: its reply has no `id` (or no other given member). */
export function seedByDryRun(operation: OperationName, id = "id"): SeedRule {
  return {
    operation,
    exists: async (manifest, call) => {
      try {
        const reply = await call(operation, { body: { manifest, dryRun: true } });
        return isObject(reply) && isObject(reply.data) && typeof reply.data[id] === "string";
      } catch (error) {
        if (error instanceof HttpError && error.code === "disabled") return true;
        throw error;
      }
    },
  };
}

/** Seeds a resource when an operation lists none of its fqn. */
export function seedUnlisted(
  operation: OperationName,
  list: OperationName,
  fqnOf: (manifest: JsonObject) => string,
): SeedRule {
  return {
    operation,
    exists: async (manifest, call) => {
      const reply = await call(list, { fqn: fqnOf(manifest) });
      return isObject(reply) && Array.isArray(reply.data) && reply.data.length > 0;
    },
  };
}

/** Seeds versions that are not listed yet; their fqns begin with `scheme`. */
export function seedVersions(operation: OperationName, list: OperationName, scheme: string): SeedRule {
  // Without a number any version counts, and then version 1 exists.
  return seedUnlisted(
    operation,
    list,
    (manifest) => `${scheme}:${tenant}/${text(manifest.ml_repo)}/${text(manifest.name)}:${manifest.version ?? 1}`,
  );
}
