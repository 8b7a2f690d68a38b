// src/commands/errors: what a command says when it fails. See docs/output.md#json.

import { HoldfastError } from "../../core/errors.ts";
import { SealKeyError } from "../../seal/seal-key.ts";
import { OptionsError } from "../../server/options.ts";
import { StoreError, type StoreErrorCode } from "../../store/store-error.ts";

/** A database failure as an error for the user: `what` names what failed because of it, the hint says what to do. */
export function storeFailure(what: string, error: StoreError): HoldfastError {
  const { code, message } = error;
  const failure = code === "malformed" ? "invalid" : "error";
  return new HoldfastError(failure, `${what}: ${message}`, { hint: hints[code] ?? null, cause: error });
}

const hints: { readonly [fault in StoreErrorCode]?: string } = {
  unreachable: "check that it runs, accepts connections from here and has the address in --database",
  denied: "correct the user or the password in --database",
  forbidden: "give the user of --database the right to create tables, and all rights to those that are there",
  absent: "check that --data or --database names the right one; createdb creates a database",
  full: "free space on the disk of the data, or raise its quota, and start again; nothing was lost",
  "newer-schema": "run the release that created it, or a newer one; nothing was changed",
  "older-schema": "use the release that serves it, or start the newer one with serve first",
  empty: "start it with serve first",
  "no-backup": "free space there, and run it again; nothing was changed",
  malformed: "put it into HOLDFAST_DATABASE where the password should not be seen",
};

/** The failure of a command on a control plane's data as an error for the user; `what` says what was not done. */
export function offlineFailure(what: string, error: unknown): unknown {
  if (error instanceof StoreError) return storeFailure(what, error);
  if (!(error instanceof OptionsError || error instanceof SealKeyError)) return error;
  return new HoldfastError("invalid", error.message, { cause: error });
}
