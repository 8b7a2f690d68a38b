import { HttpError } from "../../http/http-error.ts";
import { StoreError } from "../../store/store-error.ts";

/** The reply where a state cannot be read; null for other errors. */
export function explainStateError(error: unknown): HttpError | null {
  if (!(error instanceof StoreError)) return null;
  return new HttpError(503, "state-unavailable", "the state cannot be read now", {
    headers: { "retry-after": "5" },
    cause: error,
  });
}
