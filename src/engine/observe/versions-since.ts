import { ClientError } from "../../client/client-error.ts";
import { isListOperation } from "../../contract/operations.ts";
import { hasContentOf } from "../../core/diff/compared-content.ts";
import { type Kind, type LiveRow, readRow } from "../../core/kind.ts";
import type { Intent } from "../../state/ledger.ts";
import type { ReaderAccess } from "./read-by-id.ts";

/** A resource, and the version after which to read. */
type Since = Pick<LiveRow, "key" | "id"> & { readonly version: number; readonly limit: number };

/** The maximum number of versions to read. */
const MAX_VERSIONS = 100;

/** The versions of a resource after a given one, newest first; null where they cannot be read. */
export async function versionsSince(
  kind: Kind,
  since: Since,
  context: ReaderAccess,
): Promise<readonly LiveRow[] | null> {
  try {
    const rows = await versionsOf(kind, since, context);
    if (rows === null) return null;
    const newer = rows.filter(({ key, version = 0 }) => key === since.key && version > since.version);
    return newer.toSorted((a, b) => (b.version ?? 0) - (a.version ?? 0));
  } catch (error) {
    if (error instanceof ClientError || error instanceof TypeError) return null;
    throw error;
  }
}

/** The version that a write created, where newer ones exist; null where it is not found. */
export async function createdVersion(
  kind: Kind,
  { versionBefore, manifest }: Intent,
  newest: LiveRow,
  context: ReaderAccess,
): Promise<LiveRow | null> {
  const version = versionBefore ?? 0;
  const limit = (newest.version ?? 0) - version;
  const newer = await versionsSince(kind, { ...newest, version, limit: Math.min(limit, MAX_VERSIONS) }, context);
  return newer?.findLast((row) => hasContentOf(kind, manifest, row.manifest)) ?? null;
}

async function versionsOf(
  { single, list, hasVersions }: Kind,
  { key, id, limit }: Since,
  { reader, signal }: ReaderAccess,
): Promise<readonly LiveRow[] | null> {
  if (single !== undefined && id !== null && isListOperation(single.operation)) {
    const { rows } = await reader.page(single.operation, { path: { id }, limit }, { signal });
    return rows.flatMap((row) => readRow(single, row) ?? []);
  }
  if (list === undefined || !hasVersions) return null;
  const query = { ...list.query, ...list.narrow?.(key) };
  const rows = await reader.list(list.operation, { query }, { signal });
  return rows.flatMap((row) => readRow(list, row) ?? []);
}
