// src/server/manifest: checks of a manifest that need the database. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { Kysely } from "kysely";
import type { ErrorDetail } from "../../contract/generated/resources.ts";
import type { JsonObject } from "../../contract/json.ts";
import { unprocessable } from "../../http/http-error.ts";
import { type ResourceReference, referencesOf } from "../../model/references.ts";
import { chunks } from "../../store/prepared-query.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";

/**
 * Refuses references to resources that the caller may not see, without looking them up: invisible and absent resources
 * get the same reply after the same work.
 */
export function refuseInvisible(
  principal: Principal,
  references: readonly ResourceReference[],
  { targets }: Context,
): void {
  const invisible = references.filter(({ kind, key }) => targets.get(kind)?.isVisible?.(principal, key) === false);
  if (invisible.length === 0) return;
  const more = ({ kind }: ResourceReference) => `, or you may not ${targets.get(kind)?.verb ?? "see"} it`;
  throw unprocessable(invisible.map((reference) => detail(reference, more(reference))));
}

/** The references to absent resources; references to invisible ones must be refused before. */
export async function danglingReferences(
  database: Kysely<Tables>,
  requested: readonly ResourceReference[],
  { targets }: Context,
): Promise<readonly ErrorDetail[]> {
  const found = await findAll(database, requested, targets);
  return requested.filter((reference) => !found.has(identityOf(reference))).map((reference) => detail(reference));
}

/**
 * The references of a manifest that the existing one does not have. Only these are checked: a resource can be updated
 * although a resource that it already refers to no longer exists.
 */
export function newReferences(manifest: JsonObject, existing: JsonObject | null): readonly ResourceReference[] {
  if (existing === null) return referencesOf(manifest, tenant);
  const unchanged = new Set(referencesOf(existing, tenant).map(identityOf));
  return referencesOf(manifest, tenant).filter((reference) => !unchanged.has(identityOf(reference)));
}

async function findAll(
  database: Kysely<Tables>,
  requested: readonly ResourceReference[],
  targets: Context["targets"],
): Promise<ReadonlySet<string>> {
  const found = new Set([identityOf({ kind: "tenant", key: tenant })]);
  for (const [kind, references] of Map.groupBy(requested, (reference) => reference.kind)) {
    const keys = [...new Set(references.map(({ key }) => key))];
    for (const part of chunks(keys)) {
      const names = (await targets.get(kind)?.existing(database, part)) ?? [];
      for (const key of names) found.add(identityOf({ kind, key }));
    }
  }
  return found;
}

function detail({ kind, key, pointer }: ResourceReference, more = ""): ErrorDetail {
  return { pointer, message: `there is no ${kind.replace("-", " ")} "${key}"${more}`, code: "dangling-reference" };
}

function identityOf({ kind, key }: { readonly kind: string; readonly key: string }): string {
  return `${kind}/${key}`;
}
