import type { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";

/** The bearer token in use, and the way to renew it. */
export type Credential = {
  readonly current: () => Secret;
  /** After a 401 with `refused`: renews it, and reads the source again, unless another call already did. */
  readonly renew: (refused: Secret) => Promise<void>;
};

/** Reads the token now, and again only when the server rejects it, after `renewSource`. */
export function createCredential(
  source: () => Secret,
  renewSource: (refused: Secret) => Promise<void> = async () => {},
): Credential {
  let held = readToken(source);
  let renewing: Promise<void> | null = null;
  const renew = async (refused: Secret): Promise<void> => {
    try {
      await renewSource(refused);
      held = readToken(source);
    } catch {
      // The refused token stays in use, so that the user sees the server's 401.
    }
  };
  return {
    current: () => held,
    renew: async (refused) => {
      if (held !== refused) return;
      renewing ??= renew(refused).finally(() => {
        renewing = null;
      });
      await renewing;
    },
  };
}

function readToken(source: () => Secret): Secret {
  const token = source();
  if (/^[\x21-\x7e]+$/.test(token.open())) return token;
  throw new HoldfastError("unauthorized", "the token is empty or contains invalid characters", {
    hint: "sign in with holdfast login, or give one through --token-file, HOLDFAST_TOKEN_FILE or HOLDFAST_TOKEN",
  });
}
