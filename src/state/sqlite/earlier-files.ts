import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import type { TargetDecisions } from "../../core/holds.ts";
import type { PassResultName } from "../../core/report/pass-result.ts";
import type { PassRecord, TargetStatus } from "../../core/report/target-status.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";

/** What earlier releases kept in files of the state folder. */
export type EarlierFiles = {
  readonly decisions: TargetDecisions;
  /** Oldest first. */
  readonly passes: readonly PassRecord[];
  readonly status: TargetStatus | null;
  /** The id of the holder of leases. */
  readonly holder: string | null;
};

const HOLDS = "holds.json";
const PASSES = "history.jsonl";
const STATUS = "status.json";
const HOLDER = "holder";
const MAX_BYTES = 64 * 1024 * 1024;
const BACKUP = ".before-007.backup";

/** Whether a folder has a file of an earlier release whose content is in the database now. */
export function hasEarlierFiles(folder: string): boolean {
  return [HOLDS, PASSES, STATUS, HOLDER].some((name) => lstatOrNull(join(folder, name))?.isFile() ?? false);
}

/** Reads what an earlier release left in a folder; nothing if there is no folder. */
export function readEarlierFiles(folder: string | null): EarlierFiles {
  const textOf = (name: string): string | null => {
    if (folder === null) return null;
    const isThere = lstatOrNull(join(folder, name))?.isDirectory() === false;
    return isThere ? (readOwnFile(join(folder, name), { limit: MAX_BYTES })?.toString("utf8") ?? null) : null;
  };
  const parsed = <Content>(text: string, name: string, isContent: (value: unknown) => value is Content): Content => {
    const value = parseJsonOrNull(text);
    if (isContent(value)) return value;
    const hint = "put it right, or move it away if you can do without it";
    throw new UnsafePathError(`${join(folder ?? "", name)} is damaged, and was not taken over`, { hint });
  };
  const holds = textOf(HOLDS);
  const status = textOf(STATUS);
  const passes = passesIn(textOf(PASSES) ?? "");
  return {
    decisions: holds === null ? { holds: [], released: [] } : parsed(holds, HOLDS, isDecisions),
    passes,
    status: status === null ? null : currentStatus(parsed(status, STATUS, isStatus), passes),
    holder: textOf(HOLDER)?.trim().slice(0, 8) || null,
  };
}

// Checked as far as it is read: what is stored here is read by every later command.
function isDecisions(value: unknown): value is TargetDecisions {
  if (!isObject(value) || !Array.isArray(value.holds) || !Array.isArray(value.released)) return false;
  const isHold = (hold: unknown): boolean => isObject(hold) && areTexts([hold.what, hold.reason, hold.until]);
  return value.holds.every(isHold) && areTexts(value.released);
}

function isStatus(value: unknown): value is EarlierStatus {
  if (!isObject(value) || !areTexts([value.target, value.sync, value.condition]) || !isObject(value.counts))
    return false;
  return value.lastPass === null || isRecord(value.lastPass);
}

function isRecord(value: unknown): value is PassRecord {
  return isObject(value) && areTexts([value.startedAt, value.endedAt, value.result]) && isObject(value.counts);
}

function areTexts(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === "string");
}

/**
 * Renames the files whose content is in the database now. A folder in the place of the holds makes an earlier release
 * refuse to hold anything: its file would have no effect any more.
 */
export function retireEarlierFiles(folder: string): void {
  for (const name of [PASSES, STATUS, HOLDER, HOLDS]) {
    const path = join(folder, name);
    if (lstatOrNull(path)?.isFile()) unlessDoneByOther(() => renameSync(path, path + BACKUP));
  }
  const inPlace = join(folder, HOLDS);
  if (existsSync(inPlace)) return;
  unlessDoneByOther(() => mkdirSync(inPlace, { mode: 0o700 }));
  writeFileSync(join(inPlace, "README"), "A newer release keeps this state folder; holds are in its database.\n");
}

// Another process may rename the same files at the same moment.
function unlessDoneByOther(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && DONE_BY_OTHER.includes(error.code))) throw error;
  }
}

// The file is gone; the folder is there; the folder is in the place of the file.
const DONE_BY_OTHER: readonly unknown[] = ["ENOENT", "EEXIST", "ENOTDIR"];

// A line that a crash truncated is left out.
function passesIn(text: string): readonly PassRecord[] {
  return text.split("\n").map(parseJsonOrNull).filter(isRecord).map(withCurrentResult);
}

// Earlier releases had other names for two results.
const EARLIER_RESULTS: { readonly [name: string]: PassResultName } = {
  partial: "incomplete",
  "standing-by": "superseded",
};

function withCurrentResult(record: PassRecord): PassRecord {
  const result = EARLIER_RESULTS[record.result];
  return result === undefined ? record : { ...record, result };
}

type EarlierStatus = TargetStatus | Omit<TargetStatus, "invalid">;

// Releases whose status has no list of invalid manifests took a commit as applied of which something was left out; the
// history has the last whole one.
function currentStatus(status: EarlierStatus, passes: readonly PassRecord[]): TargetStatus {
  if ("invalid" in status) return status;
  const lastPass = status.lastPass && withCurrentResult(status.lastPass);
  if (lastPass?.result !== "incomplete") return { ...status, lastPass, invalid: [] };
  const whole = passes.findLast(({ result }) => result === "applied");
  return { ...status, lastPass, invalid: [], appliedRevision: whole?.commit ?? null };
}
