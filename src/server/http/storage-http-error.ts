import { badRequest, HttpError } from "../../http/http-error.ts";
import { storeErrorCode } from "../../store/store-error.ts";

/** How refusals, and `/readyz`, call a storage that cannot be used, and one without room. */
export const STORAGE_UNAVAILABLE = "storage-unavailable";
export const STORAGE_FULL = "storage-full";

/** The refusal that answers a fault of the storage; null when the error is another one. */
export function storageHttpError(error: unknown): HttpError | null {
  const fault = storeErrorCode(error);
  switch (fault) {
    case "locked":
    case "inaccessible":
    case "unreachable":
    case "denied":
    case "absent":
      return new HttpError(503, STORAGE_UNAVAILABLE, "the storage cannot be used at the moment", {
        headers: { "retry-after": "1" },
        cause: error,
      });
    case "full":
      // It says that nothing was done, so that a client need not look for what became of its write.
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
      return badRequest("text with the character U+0000 cannot be kept");
    case "commit-unknown":
      // A 503 would say that nothing was done.
      return new HttpError(504, "outcome-unknown", "whether this was done is not known: look before you ask again", {
        cause: error,
      });
    default:
      return null;
  }
}
