import { appendFileSync } from "node:fs";
import { join } from "node:path";
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
      const mustShorten = count + records.length > MAX_RECORDS + 1000;
      if (mustShorten || count === 0) {
        const kept = shortened([...readHistory(folder), ...records], now());
        replaceFile(path, kept.map(lineOf).join(""));
        count = kept.length;
        return;
      }
      appendFileSync(path, records.map(lineOf).join(""));
      count += records.length;
    },
  };
}

/** The records of a target, oldest first; a line that a crash truncated is skipped. */
export function readHistory(folder: string): readonly PassRecord[] {
  const text = readOwnFile(join(folder, "history.jsonl"), { limit: MAX_BYTES })?.toString("utf8") ?? "";
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as PassRecord];
    } catch {
      return [];
    }
  });
}

// A record appended to a line that a crash truncated would be unreadable too.
function isTruncated(path: string): boolean {
  return !(readOwnFile(path, { limit: MAX_BYTES })?.toString("utf8") ?? "\n").endsWith("\n");
}

/** Whether a pass is recorded: it wrote, a write failed, or its result differs from that of the previous pass. */
export function isWorthRecording(record: PassRecord, before: PassRecord | null): boolean {
  const { created = 0, updated = 0, failed = 0, unknown = 0 } = record.counts;
  if (before === null || created + updated > 0) return true;
  const isSame = record.commit === before.commit && record.result === before.result && record.reason === before.reason;
  return !isSame || (failed + unknown > 0 && JSON.stringify(record.counts) !== JSON.stringify(before.counts));
}

/** Stores the status of a target, so that `holdfast status` can show it while no daemon runs. */
export function keepStatus(folder: string, status: TargetStatus): void {
  replaceFile(join(folder, "status.json"), `${JSON.stringify(status)}\n`);
}

/** The status that a daemon stored last; null if there is none. */
export function keptStatus(folder: string): TargetStatus | null {
  const text = readOwnFile(join(folder, "status.json"), { limit: MAX_BYTES })?.toString("utf8");
  return text === undefined ? null : (JSON.parse(text) as TargetStatus);
}

const lineOf = (record: PassRecord) => `${JSON.stringify(record)}\n`;

function shortened(records: readonly PassRecord[], now: number): readonly PassRecord[] {
  const oldest = new Date(now - MAX_MS).toISOString();
  return records.filter(({ endedAt }) => endedAt >= oldest).slice(-MAX_RECORDS);
}
