import { HoldfastError } from "../../core/errors.ts";
import type { StoreError, StoreErrorCode } from "../../store/store-error.ts";

/** A failure of a database: what cannot go on because of it, and what to do. */
export function storeFailure(what: string, error: StoreError): HoldfastError {
  const { code, message } = error;
  const failure = code === "malformed" ? "invalid" : "error";
  return new HoldfastError(failure, `${what}: ${message}`, { hint: hints[code] ?? null, cause: error });
}

const hints: { readonly [fault in StoreErrorCode]?: string } = {
  unreachable: "see that it runs and takes connections from here; --database says where it is",
  denied: "correct the user or the password in --database, or what the user may do",
  absent: "see that --data or --database names the right one; createdb makes a database",
  full: "make room on the disk of the data, or raise its quota, and start again; nothing was lost",
  "newer-schema": "run the release that made it, or a newer one; nothing was changed",
  "older-schema": "use the release that serves it, or start the newer one with serve first",
  empty: "start it with serve first",
  "no-backup": "make room there, and run it again; nothing was changed",
  malformed: "put it into HOLDFAST_DATABASE where the password should not be seen",
};
