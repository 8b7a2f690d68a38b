import type { FastifyRequest } from "fastify";
import type { Secret } from "../../contract/secret.ts";
import { HttpError, tooManyRequests } from "../../http/http-error.ts";
import { isOnLoopback } from "../../http/loopback.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import { areEqualSecrets } from "./equal-secrets.ts";

/** The access rules of what is not for everyone. */
export type PageAccess = {
  /** Refuses a request without access to the status, or to the interface of the dashboard. */
  readonly require: (request: FastifyRequest, to?: "status" | "api") => void;
  /** The token that a request needs; null while there is none. */
  readonly token: () => Secret | null;
  /** Whether a request that was allowed still is: the token may be another one now. */
  readonly isStillAllowed: (request: FastifyRequest) => boolean;
  /** Whether a request may read all metrics: it comes from this machine, or has the token. */
  readonly isTrusted: (request: FastifyRequest) => boolean;
};

/** Requests per second, counted apart with and without a valid token, so that unauthenticated requests block no allowed one. */
const MAX_PER_SECOND = 10;

/** A person who scrolls through a long table asks for its parts quickly. */
const MAX_API_PER_SECOND = 100;

/**
 * Creates the access rules of a server that listens on `host`. The token is read again for each request. It is sent as a bearer
 * token, or by browsers as the password of HTTP Basic. While there is none, only this machine has access.
 */
export function createPageAccess(host: string, token: () => Secret | null, now: () => number): PageAccess {
  const limit = createRateLimit(MAX_PER_SECOND, now);
  const apiLimit = createRateLimit(MAX_API_PER_SECOND, now);
  const hasAccess = (request: FastifyRequest): boolean => {
    const expected = token();
    return expected === null ? isOnLoopback(host, request) : hasToken(request, expected);
  };
  return {
    require: (request, to = "status") => {
      const isAllowed = hasAccess(request);
      const wait = isAllowed && to === "api" ? apiLimit("allowed") : limit(isAllowed ? "allowed" : "refused");
      if (wait > 0) throw tooManyRequests(wait, "too many requests for the status");
      if (!isAllowed) throw unauthenticated();
    },
    token,
    isStillAllowed: hasAccess,
    isTrusted: (request) => {
      if (isOnLoopback(host, request)) return true;
      if (request.headers.authorization === undefined) return false;
      // Guesses are limited together with those at the status.
      const isAllowed = hasAccess(request);
      return limit(isAllowed ? "allowed" : "refused") === 0 && isAllowed;
    },
  };
}

function hasToken({ headers }: FastifyRequest, token: Secret): boolean {
  return areEqualSecrets(credentialIn(headers.authorization ?? ""), token.open());
}

function credentialIn(header: string): string {
  const [, scheme = "", value = ""] = /^(bearer|basic) +(\S+)$/i.exec(header) ?? [];
  if (scheme.toLowerCase() !== "basic") return value;
  const pair = Buffer.from(value, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

function unauthenticated(): HttpError {
  const headers = { "www-authenticate": 'Basic realm="status", charset="UTF-8"' };
  return new HttpError(401, "unauthenticated", "the status needs the token of HOLDFAST_UI_TOKEN_FILE", { headers });
}
