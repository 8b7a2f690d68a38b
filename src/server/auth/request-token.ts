import type { IncomingMessage } from "node:http";
import type { Secret } from "../../contract/secret.ts";
import { authorizationHeader, bearerToken, tokenHash } from "./authenticate.ts";

/** The token of a request, and its hash. */
export type RequestToken = { readonly token: Secret; readonly hash: string };

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
