import { StoreError, storeErrorCode } from "../store/store-error.ts";

/** Whether an error says that what is remembered could not be read or written, whatever it is stored in. */
export function isStateError(error: unknown): boolean {
  return error instanceof StoreError || storeErrorCode(error) !== null;
}
