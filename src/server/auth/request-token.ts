import type { IncomingMessage } from "node:http";
import type { Secret } from "../../contract/secret.ts";
import { authorizationHeader, bearerToken, tokenHash } from "./authenticate.ts";

/** The token that a request presents, and its hash. */
export type RequestToken = { readonly token: Secret; readonly hash: string };

/** Reads the token of a request; a header that its connection sent before is neither parsed nor hashed again. */
export function createTokenReader(): (request: Pick<IncomingMessage, "rawHeaders" | "socket">) => RequestToken {
  const last = new WeakMap<object, RequestToken & { readonly header: string }>();
  return ({ rawHeaders, socket }) => {
    const header = authorizationHeader(rawHeaders);
    const known = last.get(socket);
    if (known?.header === header) return known;
    const token = bearerToken(header);
    const presented = { header, token, hash: tokenHash(token) };
    last.set(socket, presented);
    return presented;
  };
}
