import { HoldfastError } from "../../core/errors.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { StoreError, type StoreErrorCode } from "../../store/store-error.ts";

/** An error of a lower layer as a failure for the user; null for an unexpected one. */
export function toHoldfastError(error: unknown): HoldfastError | null {
  if (error instanceof HoldfastError) return error;
  if (error instanceof UnsafePathError) {
    return new HoldfastError("invalid", error.message, { hint: error.hint, cause: error });
  }
  if (!(error instanceof StoreError)) return null;
  return new HoldfastError(error.code === "locked" ? "locked" : "error", error.message, {
    hint: hints[error.code] ?? null,
    cause: error,
  });
}

const hints: { readonly [fault in StoreErrorCode]?: string } = {
  full: "make room there, and run it again; nothing was lost",
  inaccessible: "make room there, or make it writable, and run it again",
  "older-schema": "make room there, or make it writable, so that it can be upgraded, and run it again",
  "newer-schema": "run the release that made it, or a newer one; nothing was changed",
  "no-backup": "make room there, and run it again; nothing was changed",
};
