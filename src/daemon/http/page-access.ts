import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Secret } from "../../contract/secret.ts";
import { HttpError } from "../../http/http-error.ts";
import { isLoopback } from "../../http/loopback.ts";
import { createRateLimit } from "../../http/rate-limit.ts";

/** The access rules of the status page. */
export type PageAccess = {
  /** The address that the server listens on. */
  readonly host: string;
  /** Read again for each request; null if there is no token now. */
  readonly token: () => Secret | null;
  readonly now: () => number;
};

/** Requests per second, counted apart with and without a valid token, so that unauthenticated requests block no allowed one. */
const MAX_PER_SECOND = 10;

/**
 * Refuses a request without access to the status page. The token is sent as a bearer token, or by browsers as the password of
 * HTTP Basic. If no token is configured, only this machine has access.
 */
export function requirePageAccess({ host, token, now }: PageAccess): (request: FastifyRequest) => void {
  const limit = createRateLimit(MAX_PER_SECOND, now);
  return (request) => {
    const isAllowed = hasAccess(request, host, token());
    const wait = limit(isAllowed ? "allowed" : "refused");
    if (wait > 0) throw tooMany(wait);
    if (!isAllowed) throw unauthenticated();
  };
}

function hasAccess({ headers, hostname }: FastifyRequest, host: string, token: Secret | null): boolean {
  // DNS rebinding: a page of another site can make a browser call this machine under the host name of that site.
  if (token === null) return isLoopback(host) && isLoopback(hostname);
  return timingSafeEqual(sha256(credentialIn(headers.authorization ?? "")), sha256(token.open()));
}

function credentialIn(header: string): string {
  const [, scheme = "", value = ""] = /^(bearer|basic) +(\S+)$/i.exec(header) ?? [];
  if (scheme.toLowerCase() !== "basic") return value;
  const pair = Buffer.from(value, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function unauthenticated(): HttpError {
  const headers = { "www-authenticate": 'Basic realm="status", charset="UTF-8"' };
  return new HttpError(401, "unauthenticated", "the status needs the token of HOLDFAST_UI_TOKEN_FILE", { headers });
}

function tooMany(seconds: number): HttpError {
  const headers = { "retry-after": String(Math.ceil(seconds)) };
  return new HttpError(429, "too-many-requests", "too many requests for the status", { headers });
}
