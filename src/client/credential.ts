import type { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";

/** The bearer token in use, and the way to renew it. */
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
        // The refused token stays in use, so that the user sees the server's 401.
      }
    },
  };
}

function readToken(source: () => Secret): Secret {
  const token = source();
  if (/^[\x21-\x7e]+$/.test(token.open())) return token;
  throw new HoldfastError("unauthorized", "the token is empty or contains invalid characters", {
    hint: "give one through --token-file, HOLDFAST_TOKEN_FILE or HOLDFAST_TOKEN",
  });
}
