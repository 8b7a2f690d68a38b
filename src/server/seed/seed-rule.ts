import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import { systemPrincipal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";

/** The principal that creates seeded resources. */
export const seedPrincipal = systemPrincipal("seed");

/** A call that checks whether a manifest's resource exists. */
export type ExistenceCheck = {
  readonly operation: OperationName;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly body: JsonObject | undefined;
  /** Reads from the reply whether it exists. */
  readonly exists: (reply: Json) => boolean;
  /** The code of a refusal that shows that it exists. */
  readonly refusedAs?: string;
};

/** How manifests of a type are seeded. */
export type SeedRule = {
  readonly operation: OperationName;
  readonly existenceCheck: (manifest: JsonObject) => ExistenceCheck;
  /** Work before the check and the write. */
  readonly prepare?: (manifest: JsonObject, context: Context) => Promise<void>;
};

/** Seeds a resource when a dry run shows that it is new: its reply has no `id` (or no other given member). */
export function seedByDryRun(
  operation: OperationName,
  { id = "id", ...more }: { readonly id?: string; readonly refusedAs?: string } = {},
): SeedRule {
  return {
    operation,
    existenceCheck: (manifest) => ({
      operation,
      query: new Map(),
      body: { manifest, dryRun: true },
      ...more,
      exists: (reply) => {
        const data = isObject(reply) && isObject(reply.data) ? reply.data : {};
        return typeof data[id] === "string";
      },
    }),
  };
}

/** Whether a reply lists at least one row. */
export function listsAny(reply: Json): boolean {
  return isObject(reply) && Array.isArray(reply.data) && reply.data.length > 0;
}

/** Seeds versions that are not listed yet; their fqns begin with `scheme`. */
export function seedVersions(operation: OperationName, list: OperationName, scheme: string): SeedRule {
  return {
    operation,
    existenceCheck: (manifest) => ({
      operation: list,
      // Without a number any version counts, and then version 1 exists.
      query: new Map([
        ["fqn", [`${scheme}:${tenant}/${text(manifest.ml_repo)}/${text(manifest.name)}:${manifest.version ?? 1}`]],
      ]),
      body: undefined,
      exists: listsAny,
    }),
  };
}
