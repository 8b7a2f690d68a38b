import type { NewAuditRow } from "./entry.ts";

/** Requests that were refused or failed and that the audit log does not have yet. */
export type Refusals = {
  readonly add: (refusal: NewAuditRow) => void;
  /** Takes all of them, to be written. */
  readonly take: () => readonly NewAuditRow[];
  /** Gives back what could not be written. */
  readonly putBack: (refusals: readonly NewAuditRow[]) => void;
};

// They are taken once a second.
const EACH_CALLER = 10;
// While the database is away.
const MOST = 1000;

/** What the operation of a row is that stands for several requests. */
const SEVERAL = "several";

/** Collects refusals: the first ten of each caller as rows, the others of a caller as one row with their number. */
export function createRefusals(): Refusals {
  let rows: NewAuditRow[] = [];
  let perCaller = new Map<string, number>();
  let counted = new Map<string, NewAuditRow>();
  const count = (refusal: NewAuditRow): void => {
    const { principal, outcome, details } = refusal;
    const id = `${outcome} ${principal}`;
    const number = (counted.get(id)?.details.count ?? 0) + (details.count ?? 1);
    // Of a flood only the number is kept.
    const row = { principal, outcome, operation: SEVERAL, resource: "", keyHash: null, fencingNumber: null };
    counted.set(id, { ...row, details: { count: number } });
  };
  return {
    add: (refusal) => {
      const before = perCaller.get(refusal.principal) ?? 0;
      perCaller.set(refusal.principal, before + 1);
      if (before < EACH_CALLER && rows.length < MOST) rows.push(refusal);
      else count(refusal);
    },
    take: () => {
      const taken = [...rows, ...counted.values()];
      rows = [];
      perCaller = new Map();
      counted = new Map();
      return taken;
    },
    putBack: (refusals) => {
      for (const refusal of refusals) {
        if (refusal.details.count === undefined && rows.length < MOST) rows.push(refusal);
        else count(refusal);
      }
    },
  };
}
