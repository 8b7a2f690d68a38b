import type { IncomingHttpHeaders } from "node:http";
import { Secret } from "../../contract/secret.ts";
import { badRequest } from "../../http/http-error.ts";

/** The number of a writer's lease, and the scope that it fences. */
export type FencingToken = { readonly number: number; readonly scope: string };

/** What a write carries besides: a key under which its reply is kept, and a number that keeps late writers out. */
export type WriteHeaders = { readonly key: Secret | null; readonly fence: FencingToken | null };

/** Whether a text can name a scope: in a header, and as one step of a path. */
export function isScope(text: string): boolean {
  return /^[\x21-\x7e]{0,256}$/.test(text);
}

/** Reads the headers that only writes know; malformed ones are 400, and so are repeated ones, which Node joins. */
export function readWriteHeaders(headers: IncomingHttpHeaders): WriteHeaders {
  return { key: readKey(headers["idempotency-key"]), fence: readFence(headers) };
}

function readKey(value: string | readonly string[] | undefined): Secret | null {
  if (value === undefined) return null;
  if (typeof value === "string" && /^[\x21-\x7e]{16,255}$/.test(value)) return new Secret(value);
  throw badRequest("Idempotency-Key must be one text of 16 to 255 printable characters without spaces");
}

function readFence({
  "x-fencing-token": number,
  "x-fencing-scope": scope = "",
}: IncomingHttpHeaders): FencingToken | null {
  if (typeof scope !== "string" || !isScope(scope)) {
    throw badRequest("X-Fencing-Scope must be one text of at most 256 printable characters without spaces");
  }
  if (number === undefined) {
    if (scope === "") return null;
    throw badRequest("X-Fencing-Scope says nothing without X-Fencing-Token");
  }
  if (typeof number !== "string" || !/^[0-9]{1,16}$/.test(number) || !Number.isSafeInteger(Number(number))) {
    throw badRequest("X-Fencing-Token must be one whole number in plain digits");
  }
  return { number: Number(number), scope };
}
