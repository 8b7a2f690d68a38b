import type { Random } from "../../clock/random.ts";

/** A number that a transaction writes with its commit, into a slot that no other transaction uses at the same time. */
export type CommitMarker = { readonly slot: string; readonly number: number };

/**
 * Hands out commit markers. A marker shows the outcome of a commit whose reply was lost. The transaction id cannot show
 * it: after a crash PostgreSQL assigns ids that had not reached its log to other transactions.
 */
export class CommitMarkerPool {
  readonly #prefix: string;
  readonly #free: CommitMarker[] = [];
  #slots = 0;

  constructor(random: Random) {
    this.#prefix = random.id();
  }

  /** A marker for a new transaction. */
  acquire(): CommitMarker {
    const former = this.#free.pop() ?? this.#newSlot();
    return { slot: former.slot, number: former.number + 1 };
  }

  /** Makes the slot available again; the transaction must have ended. */
  release(marker: CommitMarker): void {
    this.#free.push(marker);
  }

  #newSlot(): CommitMarker {
    this.#slots += 1;
    return { slot: `${this.#prefix}-${this.#slots}`, number: 0 };
  }
}

/** The table of the markers, which stay for two days. */
export const createMarkersTable = `CREATE TABLE IF NOT EXISTS holdfast_commits (
  slot text COLLATE "C" PRIMARY KEY,
  number bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
)`;

/** Deletes the markers that are not needed any more. */
export const deleteOldMarkers = "DELETE FROM holdfast_commits WHERE at < now() - interval '2 days'";

/** Writes the marker and commits, in one message. */
export function commitWithMarker({ slot, number }: CommitMarker): string {
  return `INSERT INTO holdfast_commits (slot, number) VALUES ('${slot}', ${number})
    ON CONFLICT (slot) DO UPDATE SET number = excluded.number, at = excluded.at; COMMIT`;
}

/**
 * Reads the number of a slot. It waits for a transaction that is committing there. Since it changes the row, a
 * transaction that tries to commit there later fails with a serialization error.
 */
export const readMarker = `INSERT INTO holdfast_commits (slot, number) VALUES ($1, 0)
  ON CONFLICT (slot) DO UPDATE SET at = excluded.at RETURNING number`;
