import type { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";

/** The bearer token in use, and how to get a newer one. */
export type Credential = {
  readonly current: () => Secret;
  /** After a 401 with `refused`: reads the source again, unless another call already did. */
  readonly renew: (refused: Secret) => void;
};

/** Reads the token now, and again only when the server rejects it. */
export function createCredential(source: () => Secret): Credential {
  let held = readToken(source);
  return {
    current: () => held,
    renew: (refused) => {
      if (held !== refused) return;
      try {
        held = readToken(source);
      } catch {
        // The refused token stays, and the server's 401 is what the user gets to see.
      }
    },
  };
}

function readToken(source: () => Secret): Secret {
  const token = source();
  if (/^[\x21-\x7e]+$/.test(token.open())) return token;
  throw new HoldfastError("unauthorized", "the token is empty, or holds characters that no token has", {
    hint: "give one through --token-file, HOLDFAST_TOKEN_FILE or HOLDFAST_TOKEN",
  });
}
