import type { IncomingHttpHeaders } from "node:http";
import { FENCING_SCOPE, FENCING_TOKEN, IDEMPOTENCY_KEY } from "../../../contract/headers.ts";
import { Secret } from "../../../contract/secret.ts";
import { badRequest } from "../../../http/http-error.ts";

/** The number of a writer's lease, and the scope of the lease. */
export type FencingToken = { readonly number: number; readonly scope: string };

/** The headers of a write: an idempotency key, and a fencing token that rejects writers whose lease was lost. */
export type WriteHeaders = { readonly key: Secret | null; readonly fence: FencingToken | null };

/** Whether a text is a valid scope, in a header and as a path segment. */
export function isScope(text: string): boolean {
  return /^[\x21-\x7e]{0,256}$/.test(text);
}

/** Reads the headers of a write; 400 when one is malformed or repeated. */
export function readWriteHeaders(headers: IncomingHttpHeaders): WriteHeaders {
  const read = (name: string): HeaderValue => headers[name.toLowerCase()];
  return { key: readKey(read(IDEMPOTENCY_KEY)), fence: readFence(read(FENCING_TOKEN), read(FENCING_SCOPE)) };
}

type HeaderValue = IncomingHttpHeaders[string];

function readKey(value: HeaderValue): Secret | null {
  if (value === undefined) return null;
  if (typeof value === "string" && /^[\x21-\x7e]{16,255}$/.test(value)) return new Secret(value);
  throw badRequest(`${IDEMPOTENCY_KEY} must be one text of 16 to 255 printable characters without spaces`);
}

function readFence(number: HeaderValue, scope: HeaderValue = ""): FencingToken | null {
  if (typeof scope !== "string" || !isScope(scope)) {
    throw badRequest(`${FENCING_SCOPE} must be one text of at most 256 printable characters without spaces`);
  }
  if (number === undefined) {
    if (scope === "") return null;
    throw badRequest(`${FENCING_SCOPE} has no effect without ${FENCING_TOKEN}`);
  }
  if (typeof number !== "string" || !/^[0-9]{1,16}$/.test(number) || !Number.isSafeInteger(Number(number))) {
    throw badRequest(`${FENCING_TOKEN} must be one whole number in plain digits`);
  }
  return { number: Number(number), scope };
}
