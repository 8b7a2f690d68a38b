// src/server/audit: the audit log. See docs/control-plane.md#audit-log.

import type { Transaction } from "kysely";
import type { Json } from "../../contract/json.ts";
import { hmacText } from "../../seal/hmac.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import type { Store } from "../../store/store.ts";
import { storeErrorCode } from "../../store/store-error.ts";
import type { Tables } from "../database/tables.ts";

/** A row of the audit log that a chain has. */
export type LinkedRow = Tables["audit"] & {
  readonly chain: string;
  readonly number: number;
  readonly key_id: string;
  readonly link: string;
};

/** A row that has its number, and the link of the row before. */
export type TakenRow = { readonly row: LinkedRow; readonly before: string };

/** What is written of a row before it is linked. */
type RowContent = Omit<Tables["audit"], "chain" | "number" | "key_id" | "link">;

/**
 * The chain of the audit rows of one process. Each row has the next number and a link, an HMAC over the row and the link
 * before. Transactions run at the same time, so a number is taken when a row is written, and not when it is committed: the
 * number of a row that was rolled back is taken again, or, where later rows exist, signed as not used.
 */
export class AuditChain {
  readonly id: string;
  readonly key: SealKey;
  /** The last number that was signed as complete, and when; null until somebody looks first. */
  checkpoint: { readonly number: number; readonly at: number } | null = null;
  #number = 0;
  #link = "";
  readonly #open = new Map<number, TakenRow>();
  readonly #lost = new Map<number, TakenRow>();
  /** Those of the lost rows that may have been committed all the same. */
  readonly #doubtful = new Set<number>();
  readonly #runs = new WeakMap<object, TakenRow[]>();

  constructor(id: string, key: SealKey) {
    this.id = id;
    this.key = key;
  }

  /** Links a row that is to be written in a transaction of the store that `follow` returned. */
  take(transaction: Transaction<Tables>, content: RowContent): LinkedRow {
    const run = this.#runs.get(transaction);
    if (run === undefined) throw new TypeError("audit rows are written in transactions that the chain follows");
    const before = this.#link;
    const numbered = { ...content, chain: this.id, number: this.#number + 1, key_id: this.key.version };
    const row = { ...numbered, link: linkOf(this.key, before, numbered) };
    this.#number = row.number;
    this.#link = row.link;
    const taken = { row, before };
    run.push(taken);
    this.#open.set(row.number, taken);
    return row;
  }

  /** The same store; the chain learns which of its rows were committed. */
  follow(store: Store<Tables>): Store<Tables> {
    return { ...store, write: (change) => this.#followed(store, change) };
  }

  async #followed<Result>(
    store: Store<Tables>,
    change: (transaction: Transaction<Tables>) => Promise<Result>,
  ): Promise<Result> {
    let run: TakenRow[] = [];
    try {
      const result = await store.write(async (transaction) => {
        // Where it runs again after a conflict, the earlier run was rolled back.
        this.#giveBack(run);
        run = [];
        this.#runs.set(transaction, run);
        try {
          return await change(transaction);
        } catch (error) {
          this.#giveBack(run);
          run = [];
          throw error;
        }
      });
      for (const { row } of run) this.#open.delete(row.number);
      return result;
    } catch (error) {
      if (storeErrorCode(error) === "commit-unknown") for (const { row } of run) this.#doubtful.add(row.number);
      this.#giveBack(run);
      throw error;
    }
  }

  #giveBack(run: readonly TakenRow[]): void {
    for (const taken of run) {
      this.#open.delete(taken.row.number);
      this.#lost.set(taken.row.number, taken);
    }
    // The last numbers can be taken again, and the ids of later rows are greater all the same.
    for (let last = this.#lost.get(this.#number); last !== undefined; last = this.#lost.get(this.#number)) {
      if (this.#doubtful.has(this.#number)) return;
      this.#lost.delete(this.#number);
      this.#number = last.row.number - 1;
      this.#link = last.before;
    }
  }

  /** Rows that were probably not committed, and whose numbers cannot be taken again. */
  lost(): readonly TakenRow[] {
    return [...this.#lost.values()];
  }

  /** The numbers of these rows are settled: each is in the log, or signed as not used. */
  settle(rows: readonly TakenRow[]): void {
    for (const { row } of rows) {
      this.#lost.delete(row.number);
      this.#doubtful.delete(row.number);
    }
  }

  /** The last number that is settled with all before it, and its link. */
  settled(): { readonly number: number; readonly link: string } {
    let first: TakenRow | null = null;
    for (const taken of [...this.#open.values(), ...this.#lost.values()]) {
      if (first === null || taken.row.number < first.row.number) first = taken;
    }
    return first === null
      ? { number: this.#number, link: this.#link }
      : { number: first.row.number - 1, link: first.before };
  }
}

/** The link of a row that follows the link `before`. */
export function linkOf(key: SealKey, before: string, row: Omit<LinkedRow, "link">): string {
  const { chain, number, key_id, id, at, principal, operation, resource, outcome, key_hash, fencing_number } = row;
  return sign(key, [
    ...["row", before, chain, number, key_id, id, at, principal, operation, resource, outcome, key_hash],
    ...[fencing_number, row.details],
  ]);
}

/** The signature of a mark in the chain. */
export function markSignature(key: SealKey, mark: Omit<Tables["audit_marks"], "signature">): string {
  return sign(key, ["mark", mark.id, mark.kind, mark.at, mark.chain, mark.number, mark.key_id, mark.link]);
}

function sign(key: SealKey, content: Json): string {
  return hmacText(key, JSON.stringify(content));
}
