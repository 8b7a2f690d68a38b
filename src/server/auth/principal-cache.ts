import type { Context } from "../context.ts";
import { type Authenticator, authenticate } from "./authenticate.ts";
import type { Principal } from "./principal.ts";
import type { RequestToken } from "./request-token.ts";

// Roles are read anew after every commit; the time is for tokens that end by themselves, and for what others commit.
const KEPT_MS = 500;
const LARGEST = 10_000;

/** Finds who calls, and remembers it for as long as nothing can have changed. */
export function createPrincipalCache(
  context: Context,
  authenticators: readonly Authenticator[],
): (presented: RequestToken) => Promise<Principal> {
  const kept = new Map<string, Principal>();
  let commits = -1;
  let until = 0;
  return async ({ token, hash }) => {
    const now = context.now();
    if (context.store.commits() !== commits || now >= until || kept.size >= LARGEST) {
      kept.clear();
      commits = context.store.commits();
      until = now + KEPT_MS;
    }
    const known = kept.get(hash);
    if (known !== undefined) return known;
    const seen = commits;
    const principal = await authenticate(authenticators, token, context);
    // What was read before a commit says nothing of the time after it.
    if (context.store.commits() === seen && commits === seen) kept.set(hash, principal);
    return principal;
  };
}
