import { isObject, type Json, type JsonObject, text } from "../../contract/json.ts";
import type { OperationName } from "../../contract/operations.ts";
import { systemPrincipal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";

/** Who seeds. */
export const seedPrincipal = systemPrincipal("seed");

/** One call that answers whether a manifest's resource exists. */
export type ExistenceCheck = {
  readonly operation: OperationName;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly body: JsonObject | undefined;
  /** Reads the answer from the reply. */
  readonly exists: (reply: Json) => boolean;
};

/** How a type of manifest is seeded, and what to ask before. */
export type SeedRule = {
  readonly operation: OperationName;
  readonly question: (manifest: JsonObject) => ExistenceCheck;
  /** What has to be done before it is asked and written. */
  readonly prepare?: (manifest: JsonObject, context: Context) => Promise<void>;
};

/** Seeds what a dry run tells to be new: it answers without an `id`, or without another member that names one. */
export function seedByDryRun(operation: OperationName, { id = "id" }: { readonly id?: string } = {}): SeedRule {
  return {
    operation,
    question: (manifest) => ({
      operation,
      query: new Map(),
      body: { manifest, dryRun: true },
      exists: (reply) => {
        const data = isObject(reply) && isObject(reply.data) ? reply.data : {};
        return typeof data[id] === "string";
      },
    }),
  };
}

/** Whether a reply lists anything. */
export function listsAny(reply: Json): boolean {
  return isObject(reply) && Array.isArray(reply.data) && reply.data.length > 0;
}

/** Seeds versions that their list does not have; `scheme` begins their fqns. */
export function seedVersions(operation: OperationName, list: OperationName, scheme: string): SeedRule {
  return {
    operation,
    question: (manifest) => ({
      operation: list,
      // A manifest without a number names them all: whether there is any is whether there is a first.
      query: new Map([
        ["fqn", [`${scheme}:${tenant}/${text(manifest.ml_repo)}/${text(manifest.name)}:${manifest.version ?? 1}`]],
      ]),
      body: undefined,
      exists: listsAny,
    }),
  };
}
