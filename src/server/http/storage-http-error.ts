import { badRequest, HttpError } from "../../http/http-error.ts";
import { storeErrorCode } from "../../store/store-error.ts";

/** Codes for an unavailable or full storage, in error replies and `/readyz`. */
export const STORAGE_UNAVAILABLE = "storage-unavailable";
export const STORAGE_FULL = "storage-full";

/** The HTTP error for an error of the storage; null for other errors. */
export function storageHttpError(error: unknown): HttpError | null {
  const fault = storeErrorCode(error);
  switch (fault) {
    case "locked":
    case "inaccessible":
    case "unreachable":
    case "denied":
    case "forbidden":
    case "absent":
      return new HttpError(503, STORAGE_UNAVAILABLE, "the storage cannot be used at the moment", {
        headers: { "retry-after": "1" },
        cause: error,
      });
    case "full":
      // The message says that nothing was changed, so the client need not check the outcome of its write.
      return new HttpError(
        507,
        STORAGE_FULL,
        "there is no room left on the disk of the server, and nothing was changed",
        {
          headers: { "retry-after": "10" },
          cause: error,
        },
      );
    case "unstorable":
      return badRequest("text with the character U+0000 cannot be stored");
    case "commit-unknown":
      // A 503 would mean that nothing was changed.
      return new HttpError(504, "outcome-unknown", "the outcome is unknown: read the resource before you retry", {
        cause: error,
      });
    default:
      return null;
  }
}
