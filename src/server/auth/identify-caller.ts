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

/** Finds who makes a request; 401 without a valid token. */
export type Callers = {
  /** The caller, cached until the next commit. */
  readonly callerOf: (request: IncomingMessage) => Promise<Principal>;
  /** The caller by what the database of a context has now. */
  readonly callerWithin: (request: IncomingMessage, within: Context) => Promise<Principal>;
};

/** Authenticates callers, and caches their principals until the next commit. */
export function createCallers(context: Context, authenticators: readonly Authenticator[]): Callers {
  const readToken = createTokenReader();
  const cache = new Map<string, Principal>();
  let commits = -1;
  let until = 0;
  return {
    callerOf: async (request) => {
      const { token, hash } = readToken(request);
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
    },
    callerWithin: async (request, within) => authenticate(authenticators, readToken(request).token, within),
  };
}

/** Reads the token of a request; a header that is the same as the connection's last one is not parsed or hashed again. */
export function createTokenReader() {
  const last = new WeakMap<object, { readonly header: string; readonly token: Secret; readonly hash: string }>();
  return ({ rawHeaders, socket }: Pick<IncomingMessage, "rawHeaders" | "socket">) => {
    const header = authorizationHeader(rawHeaders);
    const known = last.get(socket);
    if (known?.header === header) return known;
    const token = bearerToken(header);
    const read = { header, token, hash: tokenHash(token) };
    last.set(socket, read);
    return read;
  };
}

/** Whether a caller may read what is not for everyone: from this machine, or with a role that reads the whole tenant. */
export async function isTrusted(request: FastifyRequest, { callerOf }: Callers, host: string): Promise<boolean> {
  if (isOnLoopback(host, request)) return true;
  if (request.headers.authorization === undefined) return false;
  // Without a valid token, and without a database to check it, the caller is anybody.
  return callerOf(request.raw).then(readsTenant, () => false);
}
