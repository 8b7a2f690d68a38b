import type { IncomingMessage } from "node:http";
import type { Secret } from "../../contract/secret.ts";
import { authorization, bearerIn, tokenHash } from "./authenticate.ts";

/** The token that a request presents, and its hash. */
export type Presented = { readonly token: Secret; readonly hash: string };

/** Reads the token of a request; a header that its connection sent before is neither parsed nor hashed again. */
export function createPresenting(): (request: Pick<IncomingMessage, "rawHeaders" | "socket">) => Presented {
  const last = new WeakMap<object, Presented & { readonly header: string }>();
  return ({ rawHeaders, socket }) => {
    const header = authorization(rawHeaders);
    const known = last.get(socket);
    if (known?.header === header) return known;
    const token = bearerIn(header);
    const presented = { header, token, hash: tokenHash(token) };
    last.set(socket, presented);
    return presented;
  };
}
