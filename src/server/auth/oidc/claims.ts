// src/server/auth/oidc: sign-in through an issuer of OpenID Connect. See docs/control-plane.md#openid-connect.

import type { JWTPayload } from "jose";
import type { Clock } from "../../../clock/clock.ts";
import type { Secret } from "../../../contract/secret.ts";
import { isPrintable } from "../../../model/unprintable.ts";

/** How much the clocks of the issuer and of this server may differ. */
export const SKEW_SECONDS = 30;
/** The longest name, subject or group in a token. */
export const MAX_CLAIM_LENGTH = 255;
const MAX_GROUPS = 1000;

/** The issuer of OpenID Connect whose bearer tokens are accepted. */
export type OidcOptions = {
  /** Its address, as its tokens name it. */
  readonly issuer: string;
  /** For whom its tokens must be. */
  readonly audience: string;
  /** The claim with a person's groups, each of which is the team of that name; none by default. */
  readonly groupsClaim?: string;
  /** Certificates to trust besides the system's, PEM. */
  readonly authorities?: readonly string[];
  /** The environment variables that name proxies. */
  readonly env?: { readonly [name: string]: string | undefined };
};

/** What a valid token of an issuer says of a person. */
export type IssuedClaims = {
  readonly issuer: string;
  readonly subject: string;
  /** Null unless the issuer has verified it. */
  readonly email: string | null;
  readonly displayName: string | null;
  readonly groups: readonly string[];
  /** In seconds. */
  readonly issuedAt: number;
  readonly expiresAt: number;
};

/** The issuer of OpenID Connect whose tokens are accepted. */
export type TokenIssuer = {
  readonly issuer: string;
  /** What a token says; null for a token of another kind. Rejects with a TokenRefusal. */
  readonly verify: (token: Secret) => Promise<IssuedClaims | null>;
  /** Logs why a token was refused, with what a valid one says; not more than a few times in a second. */
  readonly refused: (reason: string, claims: IssuedClaims | null) => void;
};

/** A token is refused; the reason is for the server's log, and not for the caller. */
export class TokenRefusal extends Error {
  override readonly name = "TokenRefusal";
}

/** Reads the claims of a token whose signature is valid, and checks its times again. */
export function readClaims(payload: JWTPayload, { issuer, groupsClaim }: OidcOptions, clock: Clock): IssuedClaims {
  const claims: { readonly [name: string]: unknown } = payload;
  const { sub, iat, exp, nbf, email, email_verified: isVerified, name } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_CLAIM_LENGTH || !isPrintable(sub)) {
    throw new TokenRefusal(`its subject is empty, unprintable, or longer than ${MAX_CLAIM_LENGTH} characters`);
  }
  const now = clock.now() / 1000;
  if (typeof iat !== "number" || iat < 0 || iat > now + SKEW_SECONDS)
    throw new TokenRefusal("it is issued in the future");
  // Again, since the signature may have been verified earlier.
  if (typeof exp !== "number" || exp <= now - SKEW_SECONDS) throw new TokenRefusal("it has expired");
  if (typeof nbf === "number" && nbf > now + SKEW_SECONDS) throw new TokenRefusal("it is not valid yet");
  if (claims.cnf !== undefined)
    throw new TokenRefusal("it is bound to a key of its holder, which a bearer cannot prove");
  return {
    issuer,
    subject: sub,
    email: isVerified === true && typeof email === "string" ? email : null,
    displayName: typeof name === "string" && name !== "" && name.length <= 256 && isPrintable(name) ? name : null,
    groups: groupsClaim === undefined ? [] : readGroups(claims[groupsClaim]),
    issuedAt: Math.floor(iat),
    expiresAt: exp,
  };
}

function readGroups(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  const groups = given.filter(
    (group) => typeof group === "string" && group !== "" && group.length <= MAX_CLAIM_LENGTH && isPrintable(group),
  ) as readonly string[];
  if (groups.length > MAX_GROUPS) throw new TokenRefusal(`it has more than ${MAX_GROUPS} groups`);
  return [...new Set(groups)].toSorted();
}

/** A value of a token as a log shows it. */
export function shownValue(value: unknown): string {
  const shown = JSON.stringify(value) ?? "absent";
  return shown.length > MAX_CLAIM_LENGTH ? `${shown.slice(0, MAX_CLAIM_LENGTH)}…` : shown;
}
