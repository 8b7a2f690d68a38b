import { StoreError, storeErrorCode } from "../store/store-error.ts";

/** Whether an error is of the storage of the state, be it files or a database. */
export function isStorageError(error: unknown): boolean {
  return error instanceof StoreError || storeErrorCode(error) !== null;
}
