import type { SealKey } from "../../seal/seal-key.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { versionIn, writtenManifest } from "./application-version.ts";
import { type LinkedRow, linkOf, markSignature } from "./chain.ts";
import { auditKeys } from "./keys.ts";

/** A signed mark in a chain. */
export type AuditMark = Tables["audit_marks"];

/** What is wrong with a chain, or with a row that belongs to none. */
export type ChainFinding = {
  /**
   * `unlinked`: a row without a chain among later ones. `unknown-key`: it cannot be verified here. `changed-version`: the
   * manifest that the row is about is not there as it was written.
   */
  readonly kind: "changed" | "removed" | "inserted" | "unlinked" | "unknown-key" | "forged-mark" | "changed-version";
  readonly chain: string | null;
  /** The first and the last number, the same for one row. */
  readonly from: number | null;
  readonly to: number | null;
  /** The id of the row; null where it is not there any more. */
  readonly id: string | null;
};

/** The rows of a chain after its newest known checkpoint. */
export type UncoveredPart = {
  readonly chain: string;
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly since: string;
  /** Numbers without a row: requests that a crash ended, or rows that were removed. */
  readonly missing: number;
};

/** What a verification of the audit log found. */
export type AuditVerification = {
  readonly rows: number;
  /** Rows of earlier releases, before the first link. */
  readonly earlier: number;
  readonly chains: number;
  readonly checkpoints: number;
  readonly findings: readonly ChainFinding[];
  readonly moreFindings: number;
  readonly uncovered: readonly UncoveredPart[];
};

/** A chain as far as its rows were read. */
type Progress = {
  readonly marks: ChainMarks;
  number: number;
  link: string;
  /** Before the last row, when that did not have its link: it may be an insertion. */
  prior: { readonly number: number; readonly link: string; readonly finding: number } | null;
  readonly gaps: { readonly from: number; readonly to: number }[];
  uncovered: number;
  since: string;
};

type ChainMarks = {
  /** The link of each number that a checkpoint is about. */
  readonly links: Map<number, string>;
  readonly unused: Map<number, string>;
  covered: number;
  pruned: { readonly number: number; readonly link: string };
};

const PAGE = 1000;
const MOST_FINDINGS = 1000;

/**
 * Verifies every chain of the audit log, from its first row to the newest checkpoint that is in the database or given, and
 * the links of later rows.
 */
export async function verifyAudit(
  { store, keys }: Context,
  given: readonly AuditMark[] = [],
): Promise<AuditVerification> {
  const { read } = store;
  const known = await auditKeys(read, keys());
  const findings: ChainFinding[] = [];
  const stored = await read.selectFrom("audit_marks").selectAll().orderBy("id").execute();
  const marks = chainMarks([...stored, ...given], known, findings);
  const chains = new Map<string, Progress>();
  const progressOf = (chain: string): Progress => {
    const progress = chains.get(chain) ?? begin(marks.get(chain) ?? noMarks());
    chains.set(chain, progress);
    return progress;
  };
  let [rows, earlier] = [0, 0];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page: readonly Tables["audit"][] = await read
      .selectFrom("audit")
      .selectAll()
      .where("id", ">", after)
      .orderBy("id")
      .limit(PAGE)
      .execute();
    for (const row of page) {
      rows += 1;
      if (isLinked(row)) {
        const found = findings.length;
        step(progressOf(row.chain), row, known.get(row.key_id), findings);
        // A row that was changed names what somebody else wanted.
        if (findings.length === found) await checkVersion(read, row, findings);
      } else if (chains.size === 0) earlier += 1;
      else findings.push({ kind: "unlinked", chain: null, from: null, to: null, id: row.id });
    }
    after = page.at(-1)?.id;
  }
  for (const chain of marks.keys()) progressOf(chain);
  const pruned = await prunedMeanwhile(read);
  const uncovered = [...chains].flatMap(([chain, progress]) => end(chain, progress, pruned.get(chain) ?? 0, findings));
  return {
    ...{ rows, earlier, chains: chains.size, uncovered },
    checkpoints: [...marks.values()].reduce((total, { links }) => total + links.size, 0),
    findings: findings.slice(0, MOST_FINDINGS),
    moreFindings: Math.max(0, findings.length - MOST_FINDINGS),
  };
}

async function checkVersion(
  read: Context["store"]["read"],
  { chain, number, id, details }: LinkedRow,
  findings: ChainFinding[],
): Promise<void> {
  const made = details === null ? null : versionIn(details);
  if (made === null || (await writtenManifest(read, made)) !== null) return;
  findings.push({ kind: "changed-version", chain, from: Number(number), to: Number(number), id });
}

function isLinked(row: Tables["audit"]): row is LinkedRow {
  return row.chain !== null && row.number !== null && row.key_id !== null && row.link !== null;
}

function noMarks(): ChainMarks {
  return { links: new Map(), unused: new Map(), covered: 0, pruned: { number: 0, link: "" } };
}

function chainMarks(
  all: readonly AuditMark[],
  keys: ReadonlyMap<string, SealKey>,
  findings: ChainFinding[],
): ReadonlyMap<string, ChainMarks> {
  const chains = new Map<string, ChainMarks>();
  for (const mark of all) {
    const { kind, chain, link, id } = mark;
    const number = Number(mark.number);
    const key = keys.get(mark.key_id);
    if (key === undefined || markSignature(key, { ...mark, number }) !== mark.signature) {
      findings.push({ kind: "forged-mark", chain, from: number, to: number, id });
      continue;
    }
    const marks = chains.get(chain) ?? noMarks();
    chains.set(chain, marks);
    if (kind === "unused") marks.unused.set(number, link);
    if (kind === "checkpoint") {
      marks.links.set(number, link);
      marks.covered = Math.max(marks.covered, number);
    }
    if (kind === "pruned" && number > marks.pruned.number) marks.pruned = { number, link };
  }
  return chains;
}

function begin(marks: ChainMarks): Progress {
  const { number, link } = marks.pruned;
  return { marks, number, link, prior: null, gaps: [], uncovered: 0, since: "" };
}

function step(at: Progress, row: LinkedRow, key: SealKey | undefined, findings: ChainFinding[]): void {
  const number = Number(row.number);
  const { marks } = at;
  // Rows are deleted in the transaction that signs how far, so this one was written later.
  if (number <= marks.pruned.number) {
    findings.push({ kind: "inserted", chain: row.chain, from: number, to: number, id: row.id });
    return;
  }
  const isLinkedTo = (before: string) =>
    key !== undefined && linkOf(key, before, withNumbers(row, number)) === row.link;
  skipUnused(at, number - 1);
  if (number <= at.number) {
    const { prior } = at;
    if (prior !== null && number === prior.number + 1 && isLinkedTo(prior.link)) {
      const found = findings[prior.finding];
      if (found !== undefined) findings[prior.finding] = { ...found, kind: "inserted" };
      reach(at, row, number, findings);
    } else {
      findings.push({ kind: "inserted", chain: row.chain, from: number, to: number, id: row.id });
    }
    return;
  }
  let prior: Progress["prior"] = null;
  if (number > at.number + 1) {
    // Without the link before it, this row's own cannot be checked; the row after it shows whether that is the right one.
    at.gaps.push({ from: at.number + 1, to: number - 1 });
  } else if (!isLinkedTo(at.link)) {
    prior = { number: at.number, link: at.link, finding: findings.length };
    const kind = key === undefined ? "unknown-key" : "changed";
    findings.push({ kind, chain: row.chain, from: number, to: number, id: row.id });
  }
  reach(at, row, number, findings);
  at.prior = prior;
}

// A database may return its integers as texts.
function withNumbers(row: LinkedRow, number: number): LinkedRow {
  const { fencing_number: fence } = row;
  return { ...row, number, fencing_number: fence === null ? null : Number(fence) };
}

function skipUnused(at: Progress, last: number): void {
  for (let link = at.marks.unused.get(at.number + 1); link !== undefined && at.number < last; ) {
    at.number += 1;
    at.link = link;
    link = at.marks.unused.get(at.number + 1);
  }
}

function reach(
  at: Progress,
  { chain, id, link, at: moment }: LinkedRow,
  number: number,
  findings: ChainFinding[],
): void {
  const promised = at.marks.links.get(number);
  // The whole chain up to here was written again, by somebody with the key.
  if (promised !== undefined && promised !== link)
    findings.push({ kind: "changed", chain, from: number, to: number, id });
  at.number = number;
  at.link = link;
  at.prior = null;
  if (number <= at.marks.covered) return;
  if (at.uncovered === 0) at.since = moment;
  at.uncovered += 1;
}

/** Adds what was removed up to the newest checkpoint, and tells what is after it. */
function end(chain: string, at: Progress, pruned: number, findings: ChainFinding[]): readonly UncoveredPart[] {
  const { covered } = at.marks;
  skipUnused(at, Number.POSITIVE_INFINITY);
  const gaps = at.number < covered ? [...at.gaps, { from: at.number + 1, to: covered }] : at.gaps;
  let missing = 0;
  for (const { from, to } of gaps) {
    const first = Math.max(from, pruned + 1);
    const last = Math.min(to, covered);
    if (first <= last) findings.push({ kind: "removed", chain, from: first, to: last, id: null });
    missing += Math.max(0, to - Math.max(first, covered + 1) + 1);
  }
  if (at.uncovered === 0) return [];
  return [{ chain, from: covered + 1, to: at.number, rows: at.uncovered, since: at.since, missing }];
}

async function prunedMeanwhile(read: Context["store"]["read"]): Promise<ReadonlyMap<string, number>> {
  const rows = await read.selectFrom("audit_marks").select(["chain", "number"]).where("kind", "=", "pruned").execute();
  const numbers = new Map<string, number>();
  for (const { chain, number } of rows) numbers.set(chain, Math.max(numbers.get(chain) ?? 0, Number(number)));
  return numbers;
}
