import { UnsafePathError } from "../files/unsafe-path.ts";

/** Why a database cannot be used. */
export type StoreErrorCode =
  /** Another process holds it. */
  | "locked"
  /** Its bytes are not a sound database. */
  | "corrupt"
  /** A newer release of this program made it. */
  | "newer-schema"
  /** An older release of this program made it, and it may not be changed now. */
  | "older-schema"
  /** It has no schema yet. */
  | "empty"
  /** No copy of an older database could be kept, and without one it is not upgraded. */
  | "no-backup"
  /** The file or its folder cannot be read or written. */
  | "inaccessible"
  /** There is no room for more: the disk is full, or a quota or a limit is reached. */
  | "full"
  /** The database server does not answer, or is too busy. */
  | "unreachable"
  /** The database server refuses the user, its password, or what it asks for. */
  | "denied"
  /** There is no such file, or the database server has no such database. */
  | "absent"
  /** Its address has not the form of one. */
  | "malformed"
  /** The database server is too old. */
  | "older-server"
  /** The text has a character that this database cannot hold (U+0000). */
  | "unstorable"
  /** The answer to a commit was lost, and could not be asked for again. */
  | "commit-unknown"
  /** Anything else, a fault of ours included. */
  | "failed";

/** A failure of the storage itself. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, { cause }: { readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

const IOERR_WRITE = 778;
const IOERR_SHMSIZE = 4874;

// Primary result codes, https://sqlite.org/rescode.html
const faults: ReadonlyMap<number, StoreErrorCode> = new Map([
  [3, "inaccessible"],
  [5, "locked"],
  [6, "locked"],
  [8, "inaccessible"],
  [10, "inaccessible"],
  [11, "corrupt"],
  [13, "full"],
  [14, "inaccessible"],
  [15, "locked"],
  [26, "corrupt"],
]);

// Extended result codes. A quota, and a limit on the size of files, fail a write without saying that they do.
const extendedFaults: ReadonlyMap<number, StoreErrorCode> = new Map([
  [IOERR_WRITE, "full"],
  [IOERR_SHMSIZE, "full"],
]);

const fullErrors: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** The storage fault behind an error of SQLite or the file system; null when it is of another kind (a broken constraint, say). */
export function storeErrorCode(error: unknown): StoreErrorCode | null {
  if (error instanceof StoreError) return error.code;
  if (error instanceof Error && "syscall" in error)
    return "code" in error && fullErrors.includes(error.code) ? "full" : "inaccessible";
  const code = resultCode(error);
  return code === null ? null : (extendedFaults.get(code) ?? faults.get(primary(code)) ?? null);
}

// By the error of the file system, or SQLite's result code: an extended one, else the primary one.
const causes: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  ["EROFS", "the file system is read-only (EROFS)"],
  ["EACCES", "permission denied (EACCES)"],
  ["EPERM", "permission denied (EPERM)"],
  ["ENOSPC", "no space is left on the disk (ENOSPC)"],
  ["EDQUOT", "the disk quota is used up (EDQUOT)"],
  ["EFBIG", "the file may not grow so large (EFBIG)"],
  ["EIO", "the disk failed (EIO)"],
  [8, "it is read-only"],
  [10, "reading or writing failed"],
  [13, "no space is left on the disk"],
  [14, "it cannot be opened"],
  [IOERR_WRITE, "no space is left on the disk, or a quota or limit is used up"],
  // The index of the log could not grow.
  [IOERR_SHMSIZE, "no space is left on the disk"],
]);

/** Why something on the disk cannot be used, in a few words. */
export function storageErrorText(error: unknown): string {
  const cause = causeOf(error);
  if (cause !== undefined) return cause;
  return error instanceof Error ? error.message : String(error);
}

/** What on the disk cannot be used, and why, in one line. */
export function storageErrorAt(path: string, error: unknown): string {
  // These name their file.
  if (error instanceof StoreError || error instanceof UnsafePathError) return error.message;
  return `${path}: ${storageErrorText(error)}`;
}

/** Whether the error says that something on the disk can be written no more, or not at all. */
export function isUnwritable(error: unknown): boolean {
  return causeOf(error) !== undefined;
}

function causeOf(error: unknown): string | undefined {
  if (error instanceof StoreError) return causeOf(error.cause);
  if (error instanceof Error && "syscall" in error && "code" in error) return causes.get(error.code);
  const code = resultCode(error);
  return code === null ? undefined : (causes.get(code) ?? causes.get(primary(code)));
}

/** Whether the error is a broken UNIQUE or PRIMARY KEY constraint. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // SQLite tells by number, PostgreSQL by SQLSTATE.
  if ("errcode" in error) return error.errcode === 2067 || error.errcode === 1555;
  return "code" in error && error.code === "23505";
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error && "errcode" in error && typeof error.errcode === "number")) return null;
  return error.errcode;
}

// The rest of the code tells more.
function primary(code: number): number {
  return code & 0xff;
}
