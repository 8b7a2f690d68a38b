import { resolve } from "node:path";
import type { Clock } from "../clock/clock.ts";
import { errorMessage } from "../contract/error-message.ts";
import { isObject, type JsonObject, parseJsonOrNull } from "../contract/json.ts";
import { HoldfastError } from "../core/errors.ts";
import { readGivenText, whyUnreadable } from "../files/read-given-file.ts";
import { requestBounded } from "../http/bounded-request.ts";
import { isSentInClear } from "../http/loopback.ts";

/** A server that stores values, as it is reached over HTTP. */
export type StoreServer = {
  /** What messages call it. */
  readonly title: string;
  readonly url: string;
  /** The file of certificates to trust besides the system's, read for each request; null for none. */
  readonly caFile: string | null;
  readonly env: { readonly [name: string]: string | undefined };
  readonly clock: Clock;
};

/** A request to such a server. */
export type StoreRequest = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path and query. */
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: JsonObject;
};

/** A reply of such a server; the body is empty where it is no JSON object. */
export type StoreReply = { readonly status: number; readonly body: JsonObject };

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 1024 * 1024;

/** Makes what sends requests to such a server. An address that would show credentials on the way is refused. */
export function storeClient({
  title,
  url,
  caFile,
  env,
  clock,
}: StoreServer): (request: StoreRequest) => Promise<StoreReply> {
  const base = URL.parse(url);
  if (base === null || isSentInClear(url)) {
    throw new HoldfastError("invalid", `sinks: the url of ${title} must begin with https://, or be on this machine`, {
      hint: "tokens are sent over https alone",
    });
  }
  return async ({ method, path, headers, body }) => {
    const content = body === undefined ? null : JSON.stringify(body);
    const type = content === null ? {} : { "content-type": "application/json" };
    const response = await requestBounded(`${base.href.replace(/\/$/, "")}${path}`, {
      method,
      headers: { accept: "application/json", ...type, ...headers },
      body: content,
      authorities: caFile === null ? [] : [readStoreFile(caFile, title)],
      env,
      maxBytes: MOST_BYTES,
      signal: clock.timeout(TIMEOUT_MS),
    }).catch((cause: unknown) => {
      throw new Error(`${title} cannot be reached: ${whyUnreached(cause)}`, { cause });
    });
    const reply = parseJsonOrNull(response.body.toString("utf8"));
    return { status: response.status, body: isObject(reply) ? reply : {} };
  };
}

// Of Node's errors, those of an abort say nothing of the time.
function whyUnreached(cause: unknown): string {
  const isTimeout = cause instanceof Error && (cause.name === "TimeoutError" || cause.name === "AbortError");
  return isTimeout ? `no reply came within ${TIMEOUT_MS / 1000} seconds` : errorMessage(cause);
}

/** The text of a file of a sink's settings, without white space at its ends. */
export function readStoreFile(path: string, title: string): string {
  try {
    return readGivenText(path).trim();
  } catch (cause) {
    throw new Error(`${title}: the file ${path} ${whyUnreadable(cause)}`, { cause });
  }
}

/** The path of a file of a sink's settings; null where none is given. */
export function settingsFile(file: string | null | undefined, cwd: string): string | null {
  return file ? resolve(cwd, file) : null;
}
