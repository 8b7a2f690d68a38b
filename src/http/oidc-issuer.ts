import {
  AuthorizationResponseError,
  allowInsecureRequests,
  ClientError,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
  ResponseBodyError,
  type TokenEndpointResponse,
} from "openid-client";
import { errorMessage } from "../contract/error-message.ts";
import type { Secret } from "../contract/secret.ts";
import { requestBounded } from "./bounded-request.ts";
import { IssuerError } from "./issuer-error.ts";
import { isSentInClear } from "./loopback.ts";

export {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  initiateDeviceAuthorization,
  pollDeviceAuthorizationGrant,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  refreshTokenGrant,
  tokenRevocation,
} from "openid-client";

/** An issuer of sign-ins, as it describes itself, with our client at it. */
export type Issuer = Configuration;

/** How an issuer is reached. */
export type IssuerAddress = {
  readonly issuer: string;
  readonly clientId: string;
  /** The client's secret; null for a public client. */
  readonly clientSecret: Secret | null;
  /** Certificates to trust besides the system's, PEM. @default none */
  readonly ca?: string | null;
  /** The environment variables that name proxies. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly timeoutSeconds: number;
};

/** Reads how an issuer describes itself. Plain http is allowed to this machine alone. */
export async function discoverIssuer(address: IssuerAddress): Promise<Issuer> {
  const { issuer, clientId, clientSecret, timeoutSeconds } = address;
  const url = URL.parse(issuer);
  if (url === null || !/^https?:$/.test(url.protocol) || isSentInClear(issuer)) {
    throw new IssuerError("its address must begin with https://, or be on this machine", {});
  }
  const authentication = clientSecret === null ? None() : ClientSecretPost(clientSecret.open());
  return asIssuerError(() =>
    discovery(url, clientId, {}, authentication, {
      [customFetch]: createFetch(address),
      timeout: timeoutSeconds,
      // The signature of an ID token is checked also where it comes from the issuer itself.
      execute: [enableNonRepudiationChecks, ...(url.protocol === "http:" ? [allowInsecureRequests] : [])],
    }),
  );
}

/** The scopes that an issuer has, of those that are wanted: it may refuse one that it does not have. */
export function usualScopes(issuer: Issuer, wanted: readonly string[]): string {
  const { scopes_supported: supported } = issuer.serverMetadata();
  return wanted.filter((scope) => supported?.includes(scope) ?? scope !== "groups").join(" ");
}

/** Does something at an issuer; what goes wrong there is an `IssuerError`. */
export async function asIssuerError<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof ResponseBodyError || cause instanceof AuthorizationResponseError) {
      const { error, error_description: description } = cause;
      throw new IssuerError(description === undefined ? error : `${error}: ${description}`, { code: error, cause });
    }
    // Of what the library says, only the cause tells why.
    const why = cause instanceof ClientError && cause.cause instanceof Error ? cause.cause : cause;
    throw new IssuerError(`${errorMessage(cause)}${why === cause ? "" : ` (${errorMessage(why)})`}`, { cause });
  }
}

/** Tokens of a sign-in: the one that a resource server of an audience takes, its end, and its claims. */
export type BearerToken = {
  readonly token: string;
  /** When it ends, in epoch milliseconds; null where it has no end. */
  readonly expiresAt: number | null;
};

/** Of the tokens that an issuer returned, the one for an audience; null if none is. */
export function bearerTokenFor(audience: string, tokens: TokenEndpointResponse): BearerToken | null {
  for (const token of [tokens.access_token, tokens.id_token]) {
    const claims = claimsOf(token ?? "");
    if (token === undefined || claims === null || ![claims.aud].flat().includes(audience)) continue;
    return { token, expiresAt: typeof claims.exp === "number" ? claims.exp * 1000 : null };
  }
  return null;
}

// Nothing is believed of it: who takes the token checks it.
function claimsOf(token: string): { readonly aud?: unknown; readonly exp?: unknown } | null {
  const parts = token.split(".");
  if (parts.length !== 3) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(parts[1] ?? "", "base64url").toString());
    return typeof claims === "object" && claims !== null ? claims : null;
  } catch {
    return null;
  }
}

/** More than any issuer says of itself. */
const MOST_BYTES = 1024 * 1024;

function createFetch({ ca = null, env }: IssuerAddress): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const content = body === undefined || body === null ? null : String(body);
    const authorities = ca === null ? [] : [ca];
    const asked = { method, headers, body: content, authorities, env, maxBytes: MOST_BYTES, signal };
    const { status, headers: got, body: bytes } = await requestBounded(url, asked);
    const shown = Object.entries(got).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, [value].flat().join(", ")]],
    );
    const isEmpty = status === 204 || status === 304;
    return new Response(isEmpty ? null : bytes, { status, headers: shown });
  };
}
