import { errorMessage } from "../contract/error-message.ts";
import { UnsafePathError } from "../files/unsafe-path-error.ts";

/** Why a database cannot be used. */
export type StoreErrorCode =
  /** Another process has locked it. */
  | "locked"
  /** The file is damaged or is not a database. */
  | "corrupt"
  /** It was written by a newer release. */
  | "newer-schema"
  /** It was written by an older release, and is not migrated in this mode. */
  | "older-schema"
  /** It has no schema yet. */
  | "empty"
  /** The backup before an upgrade failed, so it was not upgraded. */
  | "no-backup"
  /** The file or its folder cannot be read or written. */
  | "inaccessible"
  /** The disk is full, or a quota or limit is reached. */
  | "full"
  /** The database server does not answer, or is overloaded. */
  | "unreachable"
  /** The database server refuses the user or the password. */
  | "denied"
  /** The database server refuses the user an operation. */
  | "forbidden"
  /** The file or database does not exist. */
  | "absent"
  /** The address is malformed. */
  | "malformed"
  /** The database server is too old. */
  | "older-server"
  /** The text has a character that this database cannot hold (U+0000). */
  | "unstorable"
  /** The outcome of a commit is unknown. */
  | "commit-unknown"
  /** Any other error. */
  | "failed";

/** An error of the storage itself. */
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
const primaryCodes: ReadonlyMap<number, StoreErrorCode> = new Map([
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

// Extended result codes. A quota or a file size limit shows only as a failed write.
const extendedCodes: ReadonlyMap<number, StoreErrorCode> = new Map([
  [IOERR_WRITE, "full"],
  [IOERR_SHMSIZE, "full"],
]);

const fullErrors: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG"];

/** The code of an error of SQLite or the file system; null for other errors, such as a violated constraint. */
export function storeErrorCode(error: unknown): StoreErrorCode | null {
  if (error instanceof StoreError) return error.code;
  if (error instanceof Error && "syscall" in error)
    return "code" in error && fullErrors.includes(error.code) ? "full" : "inaccessible";
  const code = resultCode(error);
  return code === null ? null : (extendedCodes.get(code) ?? primaryCodes.get(primary(code)) ?? null);
}

// By the error of the file system, or by SQLite's extended or primary result code.
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
  // The WAL index could not grow.
  [IOERR_SHMSIZE, "no space is left on the disk"],
]);

/** Why a file cannot be used, in a few words. */
export function storageErrorText(error: unknown): string {
  return causeOf(error) ?? errorMessage(error);
}

/** Which file cannot be used, and why, in one line. */
export function storageErrorAt(path: string, error: unknown): string {
  // The messages of these errors name the file.
  if (error instanceof StoreError || error instanceof UnsafePathError) return error.message;
  return `${path}: ${storageErrorText(error)}`;
}

/** Whether the error means that files cannot be written. */
export function isUnwritable(error: unknown): boolean {
  return causeOf(error) !== undefined;
}

function causeOf(error: unknown): string | undefined {
  if (error instanceof StoreError) return causeOf(error.cause);
  if (error instanceof Error && "syscall" in error && "code" in error) return causes.get(error.code);
  const code = resultCode(error);
  return code === null ? undefined : (causes.get(code) ?? causes.get(primary(code)));
}

/** Whether the error is a violated UNIQUE or PRIMARY KEY constraint. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // SQLite has numbers, PostgreSQL SQLSTATE codes.
  if ("errcode" in error) return error.errcode === 2067 || error.errcode === 1555;
  return "code" in error && error.code === "23505";
}

function resultCode(error: unknown): number | null {
  if (!(error instanceof Error && "errcode" in error && typeof error.errcode === "number")) return null;
  return error.errcode;
}

// The low byte of an extended result code is the primary one.
function primary(code: number): number {
  return code & 0xff;
}
