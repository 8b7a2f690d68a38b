import { HoldfastError } from "../../core/errors.ts";
import { SealKeyError } from "../../seal/seal-key.ts";
import { OptionsError } from "../../server/options.ts";
import { StoreError } from "../../store/store-error.ts";
import { storeFailure } from "./store-failure.ts";

/** The failure of a command on a control plane's data as an error for the user; `what` says what was not done. */
export function offlineFailure(what: string, error: unknown): unknown {
  if (error instanceof StoreError) return storeFailure(what, error);
  if (!(error instanceof OptionsError || error instanceof SealKeyError)) return error;
  return new HoldfastError("invalid", error.message, { cause: error });
}
