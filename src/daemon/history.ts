import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { PassResult } from "../core/report/pass-result.ts";
import type { PassRecord, TargetStatus } from "../core/report/target-status.ts";
import { readOwnFile } from "../files/read-own-file.ts";
import { replaceFile } from "../files/write-file.ts";

/** How many records are kept, and for how long. */
const MAX_RECORDS = 10_000;
const MAX_MS = 90 * 24 * 3_600_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** The passes of a target and the outcome of each commit, kept in its state folder. */
export type History = { readonly add: (records: readonly PassRecord[]) => void };

/** Opens the history of a target for one writer. */
export function openHistory(folder: string, now: () => number): History {
  const path = join(folder, "history.jsonl");
  let count = isTruncated(path) ? 0 : readHistory(folder).length;
  return {
    add: (records) => {
      if (records.length === 0) return;
      const before = count;
      // If a write fails, the next one writes the whole file, since this one may have left half a line.
      count = 0;
      if (before === 0 || before + records.length > MAX_RECORDS + 1000) {
        const kept = shortened([...readHistory(folder), ...records], now());
        replaceFile(path, kept.map(lineOf).join(""));
        count = kept.length;
        return;
      }
      appendFileSync(path, records.map(lineOf).join(""));
      count = before + records.length;
    },
  };
}

/** The records of a target, oldest first; a line that a crash truncated is skipped. */
export function readHistory(folder: string): readonly PassRecord[] {
  const text = readOwnFile(join(folder, "history.jsonl"), { limit: MAX_BYTES })?.toString("utf8") ?? "";
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [withCurrentResult(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}

// Earlier releases had other names for two results.
const EARLIER_RESULTS: { readonly [name: string]: PassResult } = { partial: "incomplete", "standing-by": "superseded" };

function withCurrentResult(record: PassRecord): PassRecord {
  const result = EARLIER_RESULTS[record.result];
  return result === undefined ? record : { ...record, result };
}

// A record appended to a line that a crash truncated would be unreadable too.
function isTruncated(path: string): boolean {
  return !(readOwnFile(path, { limit: MAX_BYTES })?.toString("utf8") ?? "\n").endsWith("\n");
}

/** Whether a pass is recorded: it wrote, or its result or the number of what it left differs from the previous pass. */
export function isWorthRecording(record: PassRecord, before: PassRecord | null): boolean {
  const { created = 0, updated = 0 } = record.counts;
  if (before === null || created + updated > 0) return true;
  const { commit, result, reason } = before;
  const isSame = record.commit === commit && record.result === result && record.reason === reason;
  return !isSame || LEFT.some((name) => (record.counts[name] ?? 0) !== (before.counts[name] ?? 0));
}

const LEFT = ["failed", "unknown", "invalid"] as const;

/** Stores the status of a target, so that `holdfast status` can show it while no daemon runs. */
export function keepStatus(folder: string, status: TargetStatus): void {
  replaceFile(join(folder, "status.json"), `${JSON.stringify(status)}\n`);
}

/** The status that a daemon stored last; null if there is none. */
export function keptStatus(folder: string): TargetStatus | null {
  const text = readOwnFile(join(folder, "status.json"), { limit: MAX_BYTES })?.toString("utf8");
  if (text === undefined) return null;
  const status: TargetStatus | EarlierStatus = JSON.parse(text);
  return "invalid" in status ? status : currentStatus(status, folder);
}

type EarlierStatus = Omit<TargetStatus, "invalid">;

// Earlier releases took a commit as applied of which something was left out; the history has the last whole one.
function currentStatus(status: EarlierStatus, folder: string): TargetStatus {
  const lastPass = status.lastPass && withCurrentResult(status.lastPass);
  if (lastPass?.result !== "incomplete") return { ...status, lastPass, invalid: [] };
  const whole = readHistory(folder).findLast(({ result }) => result === "applied");
  return { ...status, lastPass, invalid: [], appliedRevision: whole?.commit ?? null };
}

const lineOf = (record: PassRecord) => `${JSON.stringify(record)}\n`;

function shortened(records: readonly PassRecord[], now: number): readonly PassRecord[] {
  const oldest = new Date(now - MAX_MS).toISOString();
  return records.filter(({ endedAt }) => endedAt >= oldest).slice(-MAX_RECORDS);
}
