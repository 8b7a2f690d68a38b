import type { LiveRow } from "../core/kind.ts";
import { concurrentVersionError, OTHER_WRITER } from "../core/other-writer.ts";
import type { OutcomeError } from "../core/report.ts";
import type { Intent } from "../state/ledger.ts";
import { hasContentOf } from "./verify-write.ts";
import { versionsSince } from "./versions-since.ts";
import type { WriteAttempt, WriteContext, WriteJob } from "./write-job.ts";

/** The newest version before a write; null where nobody knows. */
export function versionBefore({ versionBefore: version, creates }: Intent): number | null {
  return version ?? (creates ? 0 : null);
}

/**
 * Whether versions may have been made beside that of a write: where its number tells of them, and where the control
 * plane takes no keys, since a request that arrives twice makes two there.
 */
export function mayBeDuplicated({ job, intent, context }: WriteAttempt, { version }: LiveRow): boolean {
  const before = versionBefore(intent);
  // A version that the manifest names is made once, and those before it are other manifests'.
  if (job.kind.versions !== undefined && job.body.version !== undefined) return false;
  if (version === undefined || before === null || version <= before) return false;
  return !context.memory.honoursKeys || version > before + 1;
}

/** Finds versions that were made beside that of a write, and tells whose they are. */
export async function findDuplicateVersion(
  { job, intent, context }: WriteAttempt,
  row: LiveRow,
): Promise<OutcomeError | null> {
  const { kind, shape, body, manifest } = job;
  const [before, newest] = [versionBefore(intent) ?? 0, row.version ?? 0];
  const found = await versionsSince(kind, { ...row, version: before, limit: newest - before + 5 }, context);
  return concurrentVersionError({
    identity: manifest.identity,
    ours: row,
    others: found?.filter(({ version }) => version !== newest) ?? null,
    isSame: (other) => hasContentOf(kind, shape, body, other.manifest),
    honoursKeys: context.memory.honoursKeys,
    hasLease: context.hasLease,
    elapsed: context.now() - (intent.at ?? context.now()),
  });
}

/** Whether another writer may have made a version since live was read: nothing keeps it apart, and it can be told. */
export function isUnprotected({ kind, live }: WriteJob, { hasLease, memory }: WriteContext): boolean {
  if (hasLease || memory.subject === null || live.state !== "present") return false;
  return kind.single !== undefined && live.row.version !== undefined;
}

/**
 * Looks, right before an update that nothing protects, whether our own subject has made a version since live was read:
 * that was another writer, and what it does would be done twice.
 */
export async function findOtherWriter(
  { kind, live, manifest }: WriteJob,
  context: WriteContext,
): Promise<OutcomeError | null> {
  if (live.state !== "present") return null;
  const { version = 0 } = live.row;
  const [newest] = (await versionsSince(kind, { ...live.row, version, limit: 1 }, context)) ?? [];
  if (newest === undefined || newest.madeBy !== context.memory.subject) return null;
  const message = `another writer may be at work: version ${newest.version} of ${manifest.identity} was made with this token since live was read; nothing was sent`;
  return { code: OTHER_WRITER, message };
}
