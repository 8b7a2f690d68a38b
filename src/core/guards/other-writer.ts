import type { Diagnostic } from "../diagnostic.ts";
import type { LiveRow } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Identity } from "../manifest.ts";
import type { RecordedHead } from "../recorded.ts";
import type { OutcomeError } from "../report/report.ts";

/** How long after its creation an unrecorded version counts as evidence of another writer, in milliseconds. */
const LATELY_MS = 5 * 60 * 1000;

/** The code of every diagnostic about another writer. */
export const OTHER_WRITER = "other-writer";

/** Evidence that another writer may be active. */
type Seen = {
  readonly live: ReadonlyMap<Identity, Live>;
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  /** The id of our subject on the control plane; null while unknown. */
  readonly subject: string | null;
  /** Epoch milliseconds by the control plane's clock. */
  readonly now: number;
};

/** Warns about newest versions that our own subject created in the last minutes and that are not in the ledger. */
export function otherWriterWarnings({ live, recorded, subject, now }: Seen): readonly Diagnostic[] {
  if (subject === null) return [];
  return [...live].flatMap(([identity, one]) => {
    if (one.state !== "present" || one.row.version === undefined || one.row.createdBy !== subject) return [];
    const { version, createdAt = "" } = one.row;
    const known = recorded.get(identity)?.version ?? 0;
    return version > known && now - Date.parse(createdAt) < LATELY_MS ? [warning(identity, version, known)] : [];
  });
}

function warning(identity: Identity, version: number, known: number): Diagnostic {
  const ledger = known === 0 ? "none" : `${known} as the newest`;
  return {
    severity: "warning",
    code: OTHER_WRITER,
    summary: `another writer may be at work: version ${version} of ${identity} was just created with this token, and this state folder's ledger knows ${ledger}`,
    detail:
      "on a control plane without leases, two writers with separate state folders create versions twice: stop one of them, or let them share a state folder",
    file: null,
    line: null,
    column: null,
  };
}

/** A write that created a version other than the successor of the newest known one. */
export type ConcurrentVersions = {
  readonly identity: Identity;
  readonly ours: LiveRow;
  /** Other versions created since live was read; null where they could not be read. */
  readonly others: readonly LiveRow[] | null;
  /** Whether a version has the sent content. */
  readonly isSame: (row: LiveRow) => boolean;
  /** Whether the control plane executes requests with the same idempotency key only once. */
  readonly honoursKeys: boolean;
  /** Whether a lease excludes other writers. */
  readonly hasLease: boolean;
  /** The duration of the request, in milliseconds. */
  readonly elapsed: number;
};

/** Who created the other versions: our own request that arrived twice, another writer, or another user. */
export function concurrentVersionError(doubled: ConcurrentVersions): OutcomeError | null {
  const { identity, ours, others } = doubled;
  if (others === null) {
    const message = `${identity} is at version ${ours.version}, and the versions created at the same time could not be read: the request may have arrived twice`;
    return { code: "duplicate-version", message };
  }
  if (others.length === 0) return null;
  const versions = [...others, ours].map(({ version = 0 }) => version).toSorted((a, b) => a - b);
  const both = `versions ${versions.join(" and ")} of ${identity}`;
  if (others.every((row) => isOwnDuplicate(row, doubled))) {
    return { code: "duplicate-version", message: `${both} were created by one write: the request arrived twice` };
  }
  if (doubled.hasLease || others.every(({ createdBy }) => createdBy !== ours.createdBy)) {
    return {
      code: "other-version",
      message: `${both} were created since live was read, and only ${ours.version} is ours`,
    };
  }
  const message = `another writer may be at work: ${both} were created with this token, and only ${ours.version} by this run; nothing more is sent`;
  return { code: OTHER_WRITER, message };
}

// A version with the sent content, created by our own subject while the request was in flight.
function isOwnDuplicate(row: LiveRow, { ours, isSame, honoursKeys, elapsed }: ConcurrentVersions): boolean {
  if (honoursKeys || row.createdBy !== ours.createdBy || !isSame(row)) return false;
  const apart = Math.abs(Date.parse(ours.createdAt ?? "") - Date.parse(row.createdAt ?? ""));
  return !(apart > elapsed);
}
