import { hasContentOf } from "../../core/diff/compared-content.ts";
import { concurrentVersionError, OTHER_WRITER } from "../../core/guards/other-writer.ts";
import type { LiveRow } from "../../core/kind.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import type { Intent } from "../../state/ledger.ts";
import { versionsSince } from "../observe/versions-since.ts";
import type { WriteJob, WriteRequest, Writing } from "./write-job.ts";

/** The newest version before a write; null where unknown. */
export function versionBefore({ versionBefore: version, creates }: Intent): number | null {
  return version ?? (creates ? 0 : null);
}

/**
 * Whether other versions may have been created during a write: the version numbers have a gap, or the control plane ignores
 * idempotency keys, so that a request that arrives twice creates two versions.
 */
export function mayBeDuplicated({ job, intent, writing }: WriteRequest, { version }: LiveRow): boolean {
  const before = versionBefore(intent);
  // A version that the manifest names is created once; earlier ones belong to other manifests.
  if (job.kind.hasVersions && job.toSend.version !== undefined) return false;
  if (version === undefined || before === null || version <= before) return false;
  return !writing.session.capabilities.honoursKeys || version > before + 1;
}

/** Finds other versions that were created during a write, and the subjects that created them. */
export async function findDuplicateVersion(
  { job, intent, writing }: WriteRequest,
  row: LiveRow,
): Promise<OutcomeError | null> {
  const { kind, toSend, manifest } = job;
  const [before, newest] = [versionBefore(intent) ?? 0, row.version ?? 0];
  const found = await versionsSince(kind, { ...row, version: before, limit: newest - before + 5 }, writing.reading);
  return concurrentVersionError({
    identity: manifest.identity,
    ours: row,
    others: found?.filter(({ version }) => version !== newest) ?? null,
    isSame: (other) => hasContentOf(kind, toSend, other.manifest),
    honoursKeys: writing.session.capabilities.honoursKeys,
    hasLease: writing.hasLease,
    elapsed: writing.run.clock.now() - (intent.at ?? writing.run.clock.now()),
  });
}

/** Whether another writer could have created a version since live was read, and could be recognised by its subject. */
export function isUnprotected({ kind, live }: WriteJob, { hasLease, session }: Writing): boolean {
  if (hasLease || session.capabilities.subject === null || live.state !== "present") return false;
  return kind.single !== undefined && live.row.version !== undefined;
}

/**
 * Checks, right before an update without a lease, whether our own subject has created a version since live was read:
 * that means another writer uses our token, and this update would repeat its work.
 */
export async function findOtherWriter(
  { kind, live, manifest }: WriteJob,
  writing: Writing,
): Promise<OutcomeError | null> {
  if (live.state !== "present") return null;
  const { version = 0 } = live.row;
  const [newest] = (await versionsSince(kind, { ...live.row, version, limit: 1 }, writing.reading)) ?? [];
  if (newest === undefined || newest.createdBy !== writing.session.capabilities.subject) return null;
  const message = `another writer may be at work: version ${newest.version} of ${manifest.identity} was created with this token since live was read; nothing was sent`;
  return { code: OTHER_WRITER, message };
}
