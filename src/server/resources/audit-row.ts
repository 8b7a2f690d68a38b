import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { AuditRow } from "../../contract/generated/resources.ts";
import { operations } from "../../contract/operations.ts";
import { STAGED_FILES } from "../../contract/staged-files.ts";
import { badRequest, forbidden } from "../../http/http-error.ts";
import { subjectName } from "../../model/roles.ts";
import { type ApplicationVersion, manifestOfVersion, writtenManifest } from "../audit/application-version.ts";
import type { AuditDetails } from "../audit/entry.ts";
import { type FieldChanges, fieldChanges } from "../audit/field-changes.ts";
import { isTenantAdmin } from "../auth/access.ts";
import { tenant } from "../auth/principal.ts";
import { idPrefixAt } from "../database/id-generator.ts";
import { type JsonText, toText } from "../database/json-text.ts";
import type { Tables } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler, OperationQuery, PageRequest } from "../http/operation-call.ts";
import type { ResourceDefinition } from "../resource.ts";
import { type RegistryType, registryTypes, versionFqn } from "./artifact/rows.ts";

const listAudit: Handler<"listAudit"> = async ({ principal, query, page }, { store: { read } }) => {
  if (!isTenantAdmin(principal)) throw forbidden("you may not read the audit log");
  const { subject, resource: named } = query;
  if (query.checkpoints === true) {
    const marks = read.selectFrom("audit_marks").selectAll().where("kind", "=", "checkpoint");
    const { rows, total } = await pageOf(read, marks, query, page);
    return { rows: rows.map((mark) => toText(checkpointRow(mark))), total };
  }
  let kept = read.selectFrom("audit").selectAll();
  if (subject !== undefined) kept = kept.where("principal", "=", subjectName(subject));
  if (named !== undefined) {
    const begin = /[/:]$/.test(named) ? named : `${named}@`;
    const beginning = sql<string>`substr(resource, 1, ${[...begin].length})`;
    const texts = [named, ...ENDS.map((end) => `${end}-${named}`)];
    kept = kept.where(({ or, eb }) => or([eb("resource", "in", texts), eb(beginning, "=", begin)]));
  }
  const { rows, total } = await pageOf(read, kept, query, page);
  const texts: JsonText<AuditRow>[] = [];
  // One after the other, since two manifests may have megabytes.
  for (const row of rows) texts.push(toText(await auditRow(row, read)));
  return { rows: texts, total };
};

// How the rows name a resource that ends.
const ENDS = ["removed", "ended", "broken"] as const;

/** The operation on the audit log: E18. */
export const resource: ResourceDefinition = {
  section: {
    name: "Audit",
    description: "Who did what, through which token, when and from where, and what was refused.",
  },
  operations: [
    defineOperation("listAudit", listAudit, {
      refuses: { also: [403], never: [404] },
      description:
        "Newest first; with `after`, oldest first. A row is written in the transaction of its effect; requests that were refused or failed follow within a second. `pagination.total` counts at most 10,000 rows beyond the page. Only tenant-admins may call it.",
      parameters: {
        subject: { description: "Only what this subject did", example: "virtualaccount:ci" },
        resource: {
          description:
            "Only rows of the resource with this identity, of any version; of all whose identity begins so, where it ends with `/` or `:`",
          example: "service/prod-eu:ranking/api",
        },
        since: { description: "Only rows of this time and later", example: "2026-11-21T09:30:00Z" },
        after: {
          description: "Only rows after the one with this id, oldest first: for reading on where an earlier call ended",
          example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1",
        },
        checkpoints: { description: "The checkpoints of the chains instead of the rows", example: false },
      },
      replySchema: "AuditRow",
    }),
  ],
};

// To count all would take a scan of everything for each page.
const MOST_COUNTED = 10_000;

/** A page of rows that have ids, and how many there are, up to a number beyond the page. */
async function pageOf<Table extends "audit" | "audit_marks", Row>(
  read: Kysely<Tables>,
  query: SelectQueryBuilder<Tables, Table, Row>,
  { after, since }: OperationQuery<"listAudit">,
  { limit, offset }: PageRequest,
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const id = sql.ref<string>("id");
  let within = query;
  if (after !== undefined) within = within.where(id, ">", after);
  if (since !== undefined) within = within.where(id, ">=", idPrefixAt(momentIn(since)));
  const ordered = within.orderBy(id, after === undefined ? "desc" : "asc");
  const rows = await ordered.limit(limit).offset(offset).execute();
  if (rows.length < limit) return { rows, total: offset + rows.length };
  const beyond = within
    .clearSelect()
    .select(id.as("id"))
    .limit(MOST_COUNTED)
    .offset(offset + limit)
    .as("beyond");
  const { more } = await read
    .selectFrom(beyond)
    .select(({ fn }) => fn.countAll<number>().as("more"))
    .executeTakeFirstOrThrow();
  return { rows, total: offset + rows.length + Number(more) };
}

function momentIn(text: string): number {
  const moment = /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(moment)) return moment;
  throw badRequest("since must be a time such as 2026-11-21T09:30:00Z");
}

async function auditRow(row: Tables["audit"], read: Kysely<Tables>): Promise<AuditRow> {
  const { id, at, principal: subject, resource: about, outcome, key_hash, fencing_number, chain, number } = row;
  // Rows of earlier releases have no details.
  const details: AuditDetails = row.details === null ? {} : JSON.parse(row.details);
  const { name = nameOf(row.operation), made, ...named } = details;
  const { isNew, isDryRun, ...told } = made === undefined ? named : { ...named, ...(await changesBy(made, read)) };
  const fqn = fqnOf(about);
  return {
    ...{ id, at, subject, operation: name, resource: about, ...(fqn !== null && { fqn }), outcome, ...told },
    ...(isNew === true && { created: true }),
    ...(isDryRun === true && { dryRun: true }),
    ...(key_hash !== null && { idempotencyKeyHash: key_hash }),
    ...(fencing_number !== null && { fencingToken: Number(fencing_number) }),
    ...(chain !== null && {
      chain: { id: chain, number: Number(number), key: row.key_id ?? "", link: row.link ?? "" },
    }),
  };
}

/** What a version has changed; nothing where it is not as it was written, or the one before is gone: `audit verify` tells so. */
async function changesBy(made: ApplicationVersion, read: Kysely<Tables>): Promise<FieldChanges> {
  if (made.version === 1) return { isNew: true };
  const before = await manifestOfVersion(read, { ...made, version: made.version - 1 });
  const after = before === null ? null : await writtenManifest(read, made);
  return before === null || after === null ? {} : fieldChanges({ before, after });
}

function checkpointRow({ id, at, chain, number, key_id: key, link, signature }: Tables["audit_marks"]): AuditRow {
  return {
    ...{ id, at, subject: "audit", operation: "checkpoint", resource: `audit-chain/${chain}`, outcome: "done" },
    chain: { id: chain, number: Number(number), key, link, signature },
  };
}

/** The operation of a number. A read may have the number of a write, and then its rows name it. */
function nameOf(number: string): string {
  if (number === STAGED_FILES) return "putStagedFile";
  const found = Object.entries(operations).filter((entry) => entry[1].number === number);
  return (found.find((entry) => entry[1].retry !== "read") ?? found[0])?.[0] ?? number;
}

/** The fqn of a resource by its identity; null where it has none. */
function fqnOf(identity: string): string | null {
  const [, type = "", within, name = ""] = /^([\w-]+)\/(?:([^/]+)\/)?([^/]+)$/.exec(identity) ?? [];
  if (within === undefined) {
    if (type === "secret-group") return `${tenant}:${name}`;
    return /^(?:cluster|workspace|secret)$/.test(type) ? name : null;
  }
  const [, plain = "", version] = /^(.+)@(\d+)$/.exec(name) ?? [];
  if (version !== undefined && isRegistryType(type)) {
    return versionFqn({ type, repo: within, name: plain }, Number(version));
  }
  return within.includes(":") ? `${within}:${name}` : null;
}

function isRegistryType(type: string): type is RegistryType {
  return Object.hasOwn(registryTypes, type);
}
