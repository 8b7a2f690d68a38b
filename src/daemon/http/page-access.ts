import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Secret } from "../../contract/secret.ts";
import { HttpError } from "../../http/http-error.ts";
import { isLoopback } from "../../http/loopback.ts";
import { createRateLimit } from "../../http/rate-limit.ts";

/** Who may see the status page. */
export type PageAccess = {
  /** The address that the server listens on. */
  readonly host: string;
  /** Read anew for each request; null where there is none now. */
  readonly token: () => Secret | null;
  readonly now: () => number;
};

/** Attempts a second, with a right token and without one: a stranger's do not keep out those who may look. */
const MAX_PER_SECOND = 10;

/**
 * Refuses a request that may not see the status page. A token comes as bearer token, or from browsers as the password of
 * HTTP Basic; without one the page is for this machine alone.
 */
export function requirePageAccess({ host, token, now }: PageAccess): (request: FastifyRequest) => void {
  const limit = createRateLimit(MAX_PER_SECOND, now);
  return (request) => {
    const isAllowed = mayLook(request, host, token());
    const wait = limit(isAllowed ? "allowed" : "refused");
    if (wait > 0) throw tooMany(wait);
    if (!isAllowed) throw unauthenticated();
  };
}

function mayLook({ headers, hostname }: FastifyRequest, host: string, token: Secret | null): boolean {
  // A page elsewhere can make a browser ask this machine, under a name of its own.
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
  return new HttpError(429, "too-many-requests", "the status was asked for too often", { headers });
}
