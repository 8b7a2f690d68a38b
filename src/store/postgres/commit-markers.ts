import { randomUUID } from "node:crypto";

/** What a transaction leaves behind with its commit: a number in a slot that nobody else uses meanwhile. */
export type CommitMarker = { readonly slot: string; readonly number: number };

/**
 * Hands out marks. By its mark the outcome of a commit whose answer was lost can be asked for; the transaction's own
 * number would not do, since after a crash PostgreSQL gives those that had not reached its log to others.
 */
export class CommitMarkerPool {
  readonly #prefix = randomUUID();
  readonly #free: CommitMarker[] = [];
  #slots = 0;

  /** A mark for a transaction that has just begun. */
  take(): CommitMarker {
    const former = this.#free.pop() ?? this.#newSlot();
    return { slot: former.slot, number: former.number + 1 };
  }

  /** Takes the mark of a transaction back that is certainly over. */
  giveBack(mark: CommitMarker): void {
    this.#free.push(mark);
  }

  #newSlot(): CommitMarker {
    this.#slots += 1;
    return { slot: `${this.#prefix}-${this.#slots}`, number: 0 };
  }
}

/** The table that marks are left in, for some days. */
export const createMarkersTable = `CREATE TABLE IF NOT EXISTS holdfast_commits (
  slot text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
)`;

/** Forgets the marks that nobody can still ask for. */
export const deleteOldMarkers = "DELETE FROM holdfast_commits WHERE at < now() - interval '2 days'";

/** Leaves the mark and commits, in one message. */
export function commitWithMarker({ slot, number }: CommitMarker): string {
  return `INSERT INTO holdfast_commits (slot, number) VALUES ('${slot}', ${number})
    ON CONFLICT (slot) DO UPDATE SET number = excluded.number, at = excluded.at; COMMIT`;
}

/**
 * Answers the number of a slot. It waits for a transaction that is just committing there; and since it changes the row,
 * one that wants to commit there later fails, as anything does that was changed after its snapshot.
 */
export const readMarker = `INSERT INTO holdfast_commits (slot, number) VALUES ($1, 0)
  ON CONFLICT (slot) DO UPDATE SET at = excluded.at RETURNING number`;
