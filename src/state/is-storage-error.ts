import { HoldfastError } from "../core/errors.ts";
import { StoreError, storeErrorCode } from "../store/store-error.ts";

/** The refusal of a key that a state was not sealed with: the state is left alone. */
export class OtherKeyError extends HoldfastError {}

/** Whether an error comes from the storage of the state: files or a database. */
export function isStorageError(error: unknown): boolean {
  return error instanceof StoreError || storeErrorCode(error) !== null;
}

/** Whether an error says that the state of a target cannot be used now: by its storage, or with this key. */
export function isUnusableState(error: unknown): boolean {
  return isStorageError(error) || error instanceof OtherKeyError;
}
