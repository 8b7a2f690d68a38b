import type { Context } from "../context.ts";
import { type Authenticator, authenticate } from "./authenticate.ts";
import type { Principal } from "./principal.ts";
import type { RequestToken } from "./request-token.ts";

// Every commit clears the cache; the time limit is for tokens that expire, and for commits of other servers.
const MAX_AGE_MS = 500;
const MAX_SIZE = 10_000;

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
    const now = performance.now();
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
