import type { FastifyRequest } from "fastify";
import { isOnLoopback } from "../../http/loopback.ts";
import { readsTenant } from "../auth/access.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { createPrincipalCache } from "../auth/principal-cache.ts";
import { createTokenReader } from "../auth/request-token.ts";
import type { Context } from "../context.ts";

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
