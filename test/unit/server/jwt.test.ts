import fc from "fast-check";
import { CompactSign, decodeJwt, decodeProtectedHeader, UnsecuredJWT } from "jose";
import { describe, expect, test } from "vitest";
import { Secret } from "../../../src/contract/secret.ts";
import { createSigningKey, type SigningKey, signingKey, signToken, verifyToken } from "../../../src/server/auth/jwt.ts";
import { payloads } from "../../support/arbitrary-token.ts";

const among =
  (...keys: readonly SigningKey[]) =>
  async (kid: string) =>
    keys.find((key) => key.kid === kid) ?? null;

const claims = { jwtId: "jwt-1", accountId: "account-1", name: "ci" };

describe("a virtual account's token", () => {
  test("is a JWT that names its key, its id and its account, and no expiry", async () => {
    const { key } = await createSigningKey();
    const token = await signToken(key, claims, 1_000_500);
    expect(decodeProtectedHeader(token.open())).toEqual({ alg: "EdDSA", kid: key.kid, typ: "JWT" });
    expect(decodeJwt(token.open())).toEqual({ iss: "holdfast", sub: "account-1", jti: "jwt-1", name: "ci", iat: 1000 });
  });

  test("is recognised by the key that signed it, also after that key was stored", async () => {
    const { key, pkcs8 } = await createSigningKey();
    const token = await signToken(key, claims, 0);
    const again = await signingKey(pkcs8);
    expect(again.kid).toBe(key.kid);
    expect(await verifyToken(among(again), token)).toEqual({ jwtId: "jwt-1", kid: key.kid });
  });

  test("is refused when another key signed it, when it was altered, and when it is unsigned", async () => {
    const { key } = await createSigningKey();
    const { key: other } = await createSigningKey();
    const keys = among(key);
    const token = (await signToken(key, claims, 0)).open();
    const forged = await signToken({ ...other, kid: key.kid }, claims, 0);
    const [header, , signature] = token.split(".");
    const altered = `${header}.${Buffer.from('{"jti":"jwt-2","sub":"a","iss":"holdfast"}').toString("base64url")}.${signature}`;
    const unsigned = new UnsecuredJWT({ jti: "jwt-1", sub: "a", iss: "holdfast" }).encode();
    const bad = [forged.open(), altered, unsigned, "", "a.b.c", "not a token", `${token}x`];
    for (const text of bad) expect(await verifyToken(keys, new Secret(text))).toBeNull();
    expect(await verifyToken(among(), new Secret(token))).toBeNull();
  });

  test("S49 is refused, and nothing is thrown, whatever its own key has signed", async () => {
    const { key } = await createSigningKey();
    const signed = async (payload: unknown) => {
      const bytes = Buffer.from(JSON.stringify(payload) ?? "");
      return new Secret(
        await new CompactSign(bytes).setProtectedHeader({ alg: "EdDSA", kid: key.kid }).sign(key.privateKey),
      );
    };
    await fc.assert(
      fc.asyncProperty(payloads, async (payload) => {
        const verified = await verifyToken(among(key), await signed(payload));
        expect(verified === null || typeof verified.jwtId === "string").toBe(true);
      }),
    );
  });

  test("S49 looks up no key whose id has another form", async () => {
    const find = () => Promise.reject(new TypeError("it was asked for"));
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const kid of [7, null, true, [], {}, "", "a\0b", "\ud800", "x".repeat(5000), "__proto__", undefined]) {
      const token = `${part({ alg: "EdDSA", kid })}.${part({ iss: "holdfast", sub: "a", jti: "b" })}.AAAA`;
      expect([kid, await verifyToken(find, new Secret(token))]).toEqual([kid, null]);
    }
  });
});
