import type { FastifyRequest } from "fastify";
import type { Secret } from "../../contract/secret.ts";
import { HttpError, tooManyRequests } from "../../http/http-error.ts";
import { isOnLoopback } from "../../http/loopback.ts";
import { createRateLimit } from "../../http/rate-limit.ts";
import { areEqualSecrets } from "./equal-secrets.ts";

/** A person who has signed in. */
export type SignedIn = {
  /** Of the session. */
  readonly id: string;
  /** The verified e-mail address, else the issuer's own name of the person. */
  readonly name: string;
  readonly mayAct: boolean;
  /** What each action of this session has in the header X-Holdfast-Page. */
  readonly pageToken: string;
};

/** The sign-in of a dashboard. */
export type SignIn = {
  /** Whether people sign in. */
  readonly isOn: () => boolean;
  /** Who sends a request; null for nobody who may read. */
  readonly person: (request: FastifyRequest) => SignedIn | null;
};

/** Where a browser signs in. */
export const SIGN_IN = "/auth/login";

/** The access rules of what is not for everyone. */
export type PageAccess = {
  /** Refuses a request without access to the status, or to the interface of the dashboard. */
  readonly require: (request: FastifyRequest, to?: "status" | "api") => void;
  /** The token that a request needs; null while there is none. */
  readonly token: () => Secret | null;
  /** Where people sign in; null for a server where they never do. */
  readonly signIn: SignIn | null;
  /** Whether a request that was allowed still is: the token may be another one now. */
  readonly isStillAllowed: (request: FastifyRequest) => boolean;
  /** Whether a request may read all metrics: it comes from this machine, or has the token. */
  readonly isTrusted: (request: FastifyRequest) => boolean;
};

/** Header of a refusal: where a browser signs in. */
const SIGN_IN_HEADER = "x-holdfast-sign-in";

/** Requests per second, counted apart with and without a valid token, so that unauthenticated requests block no allowed one. */
const MAX_PER_SECOND = 10;

/** A person who scrolls through a long table asks for its parts quickly. */
const MAX_API_PER_SECOND = 100;

/**
 * Creates the access rules of a server that listens on `host`. The token is read again for each request. It is sent as a bearer
 * token, or by browsers as the password of HTTP Basic. While there is none, only this machine has access. Where people sign
 * in, a request needs their session or the token, also from this machine.
 */
export function createPageAccess(
  host: string,
  token: () => Secret | null,
  now: () => number,
  signIn: SignIn | null = null,
): PageAccess {
  const limit = createRateLimit(MAX_PER_SECOND, now);
  const apiLimit = createRateLimit(MAX_API_PER_SECOND, now);
  const hasAccess = (request: FastifyRequest): boolean => {
    const expected = token();
    if (signIn?.isOn()) {
      return signIn.person(request) !== null || (expected !== null && hasToken(request, expected));
    }
    return expected === null ? isOnLoopback(host, request) : hasToken(request, expected);
  };
  return {
    require: (request, to = "status") => {
      const isAllowed = hasAccess(request);
      const wait = isAllowed && to === "api" ? apiLimit("allowed") : limit(isAllowed ? "allowed" : "refused");
      if (wait > 0) throw tooManyRequests(wait, "too many requests for the status");
      if (!isAllowed) throw signIn?.isOn() ? notSignedIn() : unauthenticated();
    },
    token,
    signIn,
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

// Not a prompt for a password, which a browser would show.
function notSignedIn(): HttpError {
  const headers = { [SIGN_IN_HEADER]: SIGN_IN };
  return new HttpError(401, "unauthenticated", `sign in at ${SIGN_IN}, or send the token of HOLDFAST_UI_TOKEN_FILE`, {
    headers,
  });
}

function unauthenticated(): HttpError {
  const headers = { "www-authenticate": 'Basic realm="status", charset="UTF-8"' };
  return new HttpError(401, "unauthenticated", "the status needs the token of HOLDFAST_UI_TOKEN_FILE", { headers });
}
