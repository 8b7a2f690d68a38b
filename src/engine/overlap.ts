import type { LiveRow } from "../core/kind.ts";
import { OTHER_WRITER, tellDouble } from "../core/other-writer.ts";
import type { OutcomeError } from "../core/report.ts";
import type { Attempt, Job, WritingContext } from "./job.ts";
import { carries } from "./judge.ts";
import type { Intent } from "./ledger.ts";
import { versionsSince } from "./versions-since.ts";

/** The newest version before a write; null where nobody knows. */
export function versionBefore({ versionBefore: version, creates }: Intent): number | null {
  return version ?? (creates ? 0 : null);
}

/**
 * Finds versions that were made beside that of a write. They are looked for where the number tells of them, and where
 * the control plane takes no keys: there a request that arrives twice makes two.
 */
export async function findDouble({ job, intent, context }: Attempt, row: LiveRow): Promise<OutcomeError | null> {
  const before = versionBefore(intent);
  const { honoursKeys } = context.memory;
  if (row.version === undefined || before === null || row.version <= before) return null;
  if (honoursKeys && row.version === before + 1) return null;
  const { kind, shape, body, manifest } = job;
  const limit = row.version - before + 5;
  const found = await versionsSince(kind, { ...row, version: before, limit }, context);
  return tellDouble({
    identity: manifest.identity,
    ours: row,
    others: found?.filter(({ version }) => version !== row.version) ?? null,
    isSame: (other) => carries(kind, shape, body, other.manifest),
    honoursKeys,
    hasLease: context.hasLease,
    elapsed: context.now() - (intent.at ?? context.now()),
  });
}

/**
 * Looks, right before an update that no lease protects, whether our own subject has made a version since live was read:
 * that was another writer, and what it does would be done twice.
 */
export async function findOtherWriter(
  { kind, live, manifest }: Job,
  context: WritingContext,
): Promise<OutcomeError | null> {
  const { subject } = context.memory;
  if (context.hasLease || subject === null || live.state !== "present" || kind.single === undefined) return null;
  const { version } = live.row;
  if (version === undefined) return null;
  const [newest] = (await versionsSince(kind, { ...live.row, version, limit: 1 }, context)) ?? [];
  if (newest === undefined || newest.madeBy !== subject) return null;
  const message = `another writer may be at work: version ${newest.version} of ${manifest.identity} was made with this token since live was read; nothing was sent`;
  return { code: OTHER_WRITER, message };
}
