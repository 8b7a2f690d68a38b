import { StoreError, storeErrorCode } from "../store/store-error.ts";

/** Whether an error comes from the storage of the state: files or a database. */
export function isStorageError(error: unknown): boolean {
  return error instanceof StoreError || storeErrorCode(error) !== null;
}
