import type { Kysely } from "kysely";
import { isObject, type JsonObject } from "../../../contract/json.ts";
import type { Tables } from "../../database/tables.ts";
import { rootScope, type ScopePath, scopePath } from "../../resources/lease/scope.ts";
import type { OperationRequest, ServedOperation } from "../define-operation.ts";

/**
 * The smallest scope that covers a write, as its operation determines it; else the root scope. For a request that names
 * no resource it does not matter, since it is refused.
 */
export async function writtenScope(
  { description }: ServedOperation,
  { body, path }: OperationRequest,
  database: Kysely<Tables>,
): Promise<ScopePath> {
  const members = isObject(body) ? body : {};
  const manifest: JsonObject = isObject(members.manifest) ? members.manifest : {};
  const scope = await description.scope?.({ members, manifest, path }, database);
  return typeof scope === "string" ? scopePath(scope) : rootScope;
}
