import { decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose";
import type { Clock } from "../../../clock/clock.ts";
import { errorMessage } from "../../../contract/error-message.ts";
import type { Secret } from "../../../contract/secret.ts";
import type { Log } from "../../../log/log.ts";
import {
  MAX_CLAIM_LENGTH,
  type OidcOptions,
  readClaims,
  SKEW_SECONDS,
  shownValue,
  type TokenIssuer,
  TokenRefusal,
} from "./claims.ts";
import { createIssuerKeys, type IssuerKeys, type KeySet } from "./issuer-keys.ts";

const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const TYPES = ["jwt", "at+jwt"];
// Anybody can send tokens that are refused.
const LINES = 10;
const LINES_MS = 10_000;

/** Prepares the check of the tokens of an issuer; asks it for nothing yet. */
export function createTokenIssuer(
  options: OidcOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): TokenIssuer {
  const { issuer } = options;
  const keys = createIssuerKeys(options, { clock, log });
  const verified = new WeakMap<Secret, { readonly set: KeySet; readonly payload: JWTPayload }>();
  return {
    issuer,
    verify: async (token) => {
      const kid = kidOf(token, issuer);
      if (kid === null) return null;
      const set = await currentKeys(keys, kid.is);
      // A write authenticates twice, and a signature does not change; its key may have been withdrawn.
      const known = verified.get(token);
      const payload = known?.set === set ? known.payload : await verifySignature(token, set, options, clock);
      verified.set(token, { set, payload });
      return readClaims(payload, options, clock);
    },
    refused: createRefusalLog({ clock, log }),
  };
}

function createRefusalLog({ clock, log }: { readonly clock: Clock; readonly log: Log }): TokenIssuer["refused"] {
  let [begunAt, lines, left] = [Number.NEGATIVE_INFINITY, 0, 0];
  return (reason, claims) => {
    const now = clock.monotonic();
    if (now - begunAt >= LINES_MS) [begunAt, lines] = [now, 0];
    if (lines >= LINES) {
      left += 1;
      return;
    }
    lines += 1;
    const whose = claims === null ? {} : { subject: claims.subject, email: claims.email };
    const unlogged = left === 0 ? {} : { unlogged: left };
    left = 0;
    log.warn({ event: "token-refused", reason, ...whose, ...unlogged }, "a token of an issuer was refused");
  };
}

/** The key that a token of the issuer names; null for a token of another kind. */
function kidOf(token: Secret, issuer: string): { readonly is: string | undefined } | null {
  const header = attempt(() => decodeProtectedHeader(token.open()));
  const payload = attempt(() => decodeJwt(token.open()));
  if (header === null || payload === null) return null;
  const { iss }: { readonly iss?: unknown } = payload;
  if (iss !== issuer) {
    // The control plane's own.
    if (iss === "holdfast") return null;
    throw new TokenRefusal(`its issuer is ${shownValue(iss)}, and not ${issuer}`);
  }
  // The header is untrusted input; the types of the JWT library are not checked at run time.
  const { alg, typ, kid }: { readonly [name: string]: unknown } = header;
  if (!ALGORITHMS.includes(String(alg))) throw new TokenRefusal(`its algorithm ${shownValue(alg)} is not accepted`);
  if (
    typ !== undefined &&
    !TYPES.includes(
      String(typ)
        .toLowerCase()
        .replace(/^application\//, ""),
    )
  ) {
    throw new TokenRefusal(`its type ${shownValue(typ)} is not that of an access token or an id token`);
  }
  if (kid !== undefined && (typeof kid !== "string" || kid.length > MAX_CLAIM_LENGTH)) {
    throw new TokenRefusal("the id of its key is no text, or a long one");
  }
  return { is: kid };
}

async function currentKeys(keys: IssuerKeys, kid: string | undefined): Promise<KeySet> {
  try {
    return await keys.current(kid);
  } catch (cause) {
    throw new TokenRefusal(errorMessage(cause), { cause });
  }
}

async function verifySignature(
  token: Secret,
  { find }: KeySet,
  { issuer, audience }: OidcOptions,
  clock: Clock,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token.open(), find, {
      algorithms: ALGORITHMS,
      issuer,
      audience,
      requiredClaims: ["sub", "iat", "exp"],
      clockTolerance: SKEW_SECONDS,
      currentDate: new Date(clock.now()),
    });
    return payload;
  } catch (cause) {
    // Also what is thrown for a key of the issuer that is too weak or malformed.
    throw new TokenRefusal(errorMessage(cause), { cause });
  }
}

function attempt<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
