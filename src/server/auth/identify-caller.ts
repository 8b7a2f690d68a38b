import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Secret } from "../../contract/secret.ts";
import { isOnLoopback } from "../../http/loopback.ts";
import type { Context } from "../context.ts";
import { readsTenant } from "./access.ts";
import { type Authenticator, authenticate, authorizationHeader, bearerToken, tokenHash } from "./authenticate.ts";
import type { Principal } from "./principal.ts";

// Every commit clears the cache; the time limit is for tokens that expire, and for commits of other servers.
const MAX_AGE_MS = 500;
const MAX_SIZE = 10_000;

/** The token of a request, and its hash. */
type RequestToken = { readonly token: Secret; readonly hash: string };

/** Authenticates callers, and caches their principals until the next commit. */
export function createPrincipalCache(
  context: Context,
  authenticators: readonly Authenticator[],
): (presented: RequestToken) => Promise<Principal> {
  const cache = new Map<string, Principal>();
  let commits = -1;
  let until = 0;
  return async ({ token, hash }) => {
    // A clock that was set back would keep a revoked token valid for that time.
    const now = context.clock.monotonic();
    if (context.store.commits() !== commits || now >= until || cache.size >= MAX_SIZE) {
      cache.clear();
      commits = context.store.commits();
      until = now + MAX_AGE_MS;
    }
    const known = cache.get(hash);
    if (known !== undefined) return known;
    const seen = commits;
    const principal = await authenticate(authenticators, token, context);
    // A result from before a commit may be outdated.
    if (context.store.commits() === seen && commits === seen) cache.set(hash, principal);
    return principal;
  };
}

/** Reads the token of a request; a header that is the same as the connection's last one is not parsed or hashed again. */
export function createTokenReader(): (request: Pick<IncomingMessage, "rawHeaders" | "socket">) => RequestToken {
  const last = new WeakMap<object, RequestToken & { readonly header: string }>();
  return ({ rawHeaders, socket }) => {
    const header = authorizationHeader(rawHeaders);
    const known = last.get(socket);
    if (known?.header === header) return known;
    const token = bearerToken(header);
    const read = { header, token, hash: tokenHash(token) };
    last.set(socket, read);
    return read;
  };
}

/** Returns whether a caller may read what is not for everyone: from this machine, or with a role that reads the whole tenant. */
export function createTrustedCaller(
  context: Context,
  authenticators: readonly Authenticator[],
  host: string,
): (request: FastifyRequest) => Promise<boolean> {
  const findPrincipal = createPrincipalCache(context, authenticators);
  const readToken = createTokenReader();
  return async (request) => {
    if (isOnLoopback(host, request)) return true;
    if (request.headers.authorization === undefined) return false;
    // Without a valid token, and without a database to check it, the caller is anybody.
    return findPrincipal(readToken(request.raw)).then(readsTenant, () => false);
  };
}
