import type { Kysely, Transaction } from "kysely";
import type { ErrorDetail, Subject } from "../../contract/generated/resources.ts";
import { shapes } from "../../contract/generated/shapes.ts";
import { canonical, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import type { OperationName } from "../../contract/operations.ts";
import { forbidden, unprocessable } from "../../http/http-error.ts";
import { inPlaceFields, normalise } from "../../model/normal-form.ts";
import { checkSemantics } from "../../schema/check-semantics.ts";
import { isAllowed, isTenantAdmin } from "../auth/access.ts";
import { authoriseGrants, collaboratorGrants, type Grant, replaceGrants } from "../auth/grants.ts";
import type { Principal } from "../auth/principal.ts";
import { type Context, timestamp } from "../context.ts";
import { recordChange } from "../database/audit.ts";
import { type JsonText, toText } from "../database/json-text.ts";
import type { Stored, Tables } from "../database/tables.ts";
import { checkResourceSize } from "../http/reply-size.ts";
import { danglingReferences, newReferences, refuseInvisible } from "./check-references.ts";
import { errorDetails, requireValidManifest } from "./require-valid-manifest.ts";

/** What a resource is created from when a manifest is written. */
export type ResourceInput<Resource> = {
  readonly manifest: JsonObject;
  readonly existing: Resource | null;
  /** The creator: the first writer. */
  readonly subject: Subject;
  readonly createdAt: string;
  readonly updatedAt: string;
};

/**
 * The specifics of a kind that is declared by one manifest and found by its key. The order of checks: form, authorisation,
 * visibility of references, then semantic errors (`faults` may throw a conflict) together with dangling references.
 */
export type DeclaredKind<Resource extends { readonly manifest: JsonObject }> = {
  readonly operation: OperationName;
  /** The types of its manifests; identities in the audit begin with the first. */
  readonly types: readonly [string, ...string[]];
  /** What follows the type in its identity: the fqn for access. */
  readonly keyOf: (manifest: JsonObject) => string;
  readonly find: (database: Kysely<Tables>, key: string) => Promise<Resource | null>;
  /**
   * Whether the principal may write it; checked before it is looked up, so that its existence is not revealed.
   * @default whether it is an admin of it
   */
  readonly mayWrite?: (principal: Principal, key: string, database: Kysely<Tables>) => boolean | Promise<boolean>;
  /** The roles that its manifest grants. @default those of its collaborators on it */
  readonly grantsOf?: (manifest: JsonObject) => readonly Grant[];
  /** Semantic errors that need the database, besides dangling references. @default none */
  readonly faults?: (
    database: Kysely<Tables>,
    manifest: JsonObject,
    existing: Resource | null,
  ) => Promise<readonly ErrorDetail[]>;
  readonly stamps: (existing: Resource) => { readonly subject: Subject; readonly createdAt: string };
  /** The resource, with a new id or that of the existing one. */
  readonly make: (input: ResourceInput<Resource>, newId: () => string) => Resource;
  /** Writes the row, new or changed, and everything that depends on it but its grants. */
  readonly save: (transaction: Transaction<Tables>, resource: Resource, json: JsonText<Resource>) => Promise<void>;
};

/** The decision on a write of a declared resource; `keep` when the manifest changes nothing. */
export type WriteDecision<Resource> = {
  readonly action: "create" | "update" | "keep";
  readonly resource: Resource;
  /** The manifest that it replaces; null for a new resource. */
  readonly before: JsonObject | null;
};

/** Creates or updates declared resources; a dry run makes the same decision and writes nothing. */
export function putDeclared<Resource extends Stored<{ readonly manifest: JsonObject }>>(kind: DeclaredKind<Resource>) {
  return async (
    {
      principal,
      body,
    }: { readonly principal: Principal; readonly body: { readonly manifest: JsonObject; readonly dryRun?: boolean } },
    context: Context,
  ): Promise<{ readonly data: JsonText<Resource> | JsonText<Omit<Resource, "id">> }> => {
    const manifest = requireValidManifest(context, kind.types, body.manifest);
    if (body.dryRun === true) {
      const { action, resource } = await decideWrite(kind, principal, manifest, context, context.store.read);
      const text = action === "create" ? toText({ ...resource, id: undefined }) : toText(resource);
      return { data: action === "keep" ? text : checkResourceSize(text) };
    }
    return context.store.write(async (transaction) => {
      const { action, resource, before } = await decideWrite(kind, principal, manifest, context, transaction);
      const data = toText(resource);
      if (action === "keep") return { data };
      const identity = await saveDeclared(transaction, kind, resource, checkResourceSize(data));
      const changed = { before, after: manifest };
      await recordChange(transaction, context, { principal, operation: kind.operation, resource: identity, changed });
      return { data };
    });
  };
}

/** Writes a declared resource and its grants; returns its identity. */
export async function saveDeclared<Resource extends { readonly manifest: JsonObject }>(
  transaction: Transaction<Tables>,
  kind: DeclaredKind<Resource>,
  resource: Resource,
  json: JsonText<Resource>,
): Promise<string> {
  const identity = `${kind.types[0]}/${kind.keyOf(resource.manifest)}`;
  await kind.save(transaction, resource, json);
  await replaceGrants(transaction, identity, grantsOf(kind, resource.manifest));
  return identity;
}

function grantsOf<Resource extends { readonly manifest: JsonObject }>(
  { types, keyOf, grantsOf: own }: DeclaredKind<Resource>,
  manifest: JsonObject,
): readonly Grant[] {
  return own?.(manifest) ?? collaboratorGrants({ type: types[0], fqn: keyOf(manifest) }, manifest);
}

/** Decides a write, or refuses it. */
export async function decideWrite<Resource extends { readonly manifest: JsonObject }>(
  kind: DeclaredKind<Resource>,
  principal: Principal,
  manifest: JsonObject,
  context: Context,
  database: Kysely<Tables>,
): Promise<WriteDecision<Resource>> {
  const existing = await findForWrite(kind, principal, manifest, database);
  const references = newReferences(manifest, existing?.manifest ?? null);
  refuseInvisible(principal, references, context);
  const faults = [
    ...errorDetails(checkSemantics(String(manifest.type), manifest)),
    ...((await kind.faults?.(database, manifest, existing)) ?? []),
    ...(await danglingReferences(database, references, context)),
  ];
  if (faults.length > 0) throw unprocessable(faults);
  if (existing !== null && isSame(existing.manifest, manifest)) {
    return { action: "keep", resource: existing, before: existing.manifest };
  }
  const now = timestamp(context);
  const stamps = existing === null ? { subject: principal.subject, createdAt: now } : kind.stamps(existing);
  const resource = kind.make({ manifest, existing, ...stamps, updatedAt: now }, context.newId);
  return { action: existing === null ? "create" : "update", resource, before: existing?.manifest ?? null };
}

/**
 * The existing resource, or null for a new one, which only a tenant-admin may create; refuses a manifest that the principal
 * may not write, or whose roles it may not grant.
 */
async function findForWrite<Resource extends { readonly manifest: JsonObject }>(
  kind: DeclaredKind<Resource>,
  principal: Principal,
  manifest: JsonObject,
  database: Kysely<Tables>,
): Promise<Resource | null> {
  const [type] = kind.types;
  const key = kind.keyOf(manifest);
  const mayWrite = kind.mayWrite?.(principal, key, database) ?? isAllowed(principal, "admin", { type, fqn: key });
  const refusal = () => forbidden(`you may not write this ${type.replace("-", " ")}`);
  if (!(await mayWrite)) throw refusal();
  const existing = await kind.find(database, key);
  if (existing === null && !isTenantAdmin(principal)) throw refusal();
  authoriseGrants(principal, grantsOf(kind, manifest), existing === null ? [] : grantsOf(kind, existing.manifest));
  return existing;
}

function isSame(existing: JsonObject, wanted: JsonObject): boolean {
  const shape = typeof wanted.type === "string" && Object.hasOwn(shapes, wanted.type) ? shapes[wanted.type] : undefined;
  const compared = shape ?? { is: "free" };
  return comparableText(compared, existing) === comparableText(compared, wanted);
}

/** The content of a version: its manifest without its number and the fields that may change in place, as comparable text. */
export function versionContent(shape: Shape, manifest: JsonObject): string {
  const fields = Object.entries(manifest).filter(([name]) => name !== "version" && !inPlaceFields.includes(name));
  return comparableText(shape, Object.fromEntries(fields));
}

/** The text of a manifest in normal form: the same for manifests with the same content. */
export function comparableText(shape: Shape, manifest: JsonObject): string {
  return canonical(normalise(shape, manifest, "content") ?? {});
}
