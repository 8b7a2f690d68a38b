import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { calculateJwkThumbprint, errors, exportJWK, jwtVerify, SignJWT } from "jose";
import { Secret } from "../../contract/secret.ts";

const ALGORITHM = "EdDSA";
const ISSUER = "holdfast";

/** A key pair that signs tokens; `kid` is its RFC 7638 thumbprint. */
export type SigningKey = { readonly kid: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** Creates an Ed25519 key pair, with the private key as PKCS #8 text to be sealed. */
export async function createSigningKey(): Promise<{ readonly key: SigningKey; readonly pkcs8: Secret }> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pkcs8 = new Secret(privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  return { key: await signingKey(pkcs8), pkcs8 };
}

/** The key pair of a private key. */
export async function signingKey(pkcs8: Secret): Promise<SigningKey> {
  const privateKey = createPrivateKey(pkcs8.open());
  const publicKey = createPublicKey(privateKey);
  return { kid: await calculateJwkThumbprint(await exportJWK(publicKey)), privateKey, publicKey };
}

/**
 * Signs a token. It has no `exp`: the account's expiry may change after the token was issued, so the database decides on
 * every request whether the token is valid.
 */
export async function signToken(
  { kid, privateKey }: SigningKey,
  { jwtId, accountId, name }: { readonly jwtId: string; readonly accountId: string; readonly name: string },
  now: number,
): Promise<Secret> {
  const token = await new SignJWT({ name })
    .setProtectedHeader({ alg: ALGORITHM, kid, typ: "JWT" })
    .setIssuer(ISSUER)
    .setSubject(accountId)
    .setJti(jwtId)
    .setIssuedAt(Math.floor(now / 1000))
    .sign(privateKey);
  return new Secret(token);
}

// The header is untrusted input; the types of the JWT library are not checked at run time.
function isKid(kid: unknown): kid is string {
  return typeof kid === "string" && /^[\w-]{43}$/.test(kid);
}

/** Finds the key of a `kid`; null when it is unknown. */
export type FindSigningKey = (kid: string) => Promise<SigningKey | null>;

/** The id of a valid token, and of the key that signed it. */
export type VerifiedToken = { readonly jwtId: string; readonly kid: string };

/** Verifies the signature of a token; null for any other text. */
export async function verifyToken(find: FindSigningKey, token: Secret): Promise<VerifiedToken | null> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token.open(), ({ kid }) => publicKeyOf(find, kid), {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      requiredClaims: ["jti", "sub"],
    });
    const [jwtId, kid]: readonly unknown[] = [payload.jti, protectedHeader.kid];
    return typeof jwtId === "string" && isKid(kid) ? { jwtId, kid } : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

async function publicKeyOf(find: FindSigningKey, kid: unknown): Promise<KeyObject> {
  const key = isKid(kid) ? await find(kid) : null;
  if (key === null) throw new errors.JWKSNoMatchingKey();
  return key.publicKey;
}
