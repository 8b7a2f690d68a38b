import { HoldfastError } from "../../core/errors.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { SopsError } from "../../sops/sops-error.ts";
import { StoreError, type StoreErrorCode } from "../../store/store-error.ts";

/** Converts an error of a lower layer into an error for the user; null for an unexpected error. */
export function toHoldfastError(error: unknown): HoldfastError | null {
  if (error instanceof HoldfastError) return error;
  if (error instanceof UnsafePathError) {
    return new HoldfastError("invalid", error.message, { hint: error.hint, cause: error });
  }
  if (error instanceof SopsError) {
    return new HoldfastError("invalid", error.message, { hint: error.hint, cause: error });
  }
  if (!(error instanceof StoreError)) return null;
  return new HoldfastError(error.code === "locked" ? "locked" : "error", error.message, {
    hint: hints[error.code] ?? null,
    cause: error,
  });
}

const hints: { readonly [fault in StoreErrorCode]?: string } = {
  full: "free space there, and run it again; nothing was lost",
  inaccessible: "free space there, or make it writable, and run it again",
  locked: "wait until that process ends, or stop it, and run it again",
  "older-schema": "free space there, or make it writable, so that it can be upgraded, and run it again",
  "newer-schema": "run the release that created it, or a newer one; nothing was changed",
  unreachable: "start the database, or make it reachable from here, and run it again",
  denied: "correct the user or the password of the address, and run it again",
  forbidden:
    "give the user the right to create schemas, and all rights to those that other users have created, and run it again",
  "no-backup": "free space there, and run it again; nothing was changed",
};
