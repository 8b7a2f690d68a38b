import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { calculateJwkThumbprint, exportJWK, SignJWT } from "jose";
import { Secret } from "../../src/contract/secret.ts";
import { listen } from "./listen.ts";
import { machine } from "./machine.ts";

/** For whom the tokens are. */
export const audience = "https://control.example.com";

/** The time in seconds, as tokens have it. */
export const now = () => Math.floor(machine.clock.now() / 1000);

/** A pair of keys, and the algorithm that it signs with. */
export type Key = { readonly privateKey: KeyObject; readonly publicKey: KeyObject; readonly alg: string };
/** A new pair of RSA keys. */
export const rsa = (modulusLength = 2048): Key => ({ ...generateKeyPairSync("rsa", { modulusLength }), alg: "RS256" });
/** The pair of keys that an issuer signs with at first. */
export const first = rsa();

/** An issuer of which a test holds the keys, and decides what it answers. */
export async function ownIssuer() {
  let keys: readonly Key[] = [first];
  let answer: ((path: string, reply: ServerResponse) => boolean) | null = null;
  const asked: string[] = [];
  const server = createServer(async ({ url: path = "" }, reply) => {
    asked.push(path);
    if (answer?.(path, reply)) return;
    reply.setHeader("content-type", "application/json");
    const jwks = { keys: await Promise.all(keys.map(jwkOf)) };
    reply.end(JSON.stringify(path.includes("well-known") ? { issuer: url, jwks_uri: `${url}/jwks` } : jwks));
  });
  const url = await listen(server);
  const sign = async (
    claims: { readonly [name: string]: unknown },
    { key = first, header = {} }: { readonly key?: Key; readonly header?: object } = {},
  ): Promise<Secret> => {
    const { kid } = await jwkOf(key);
    const payload = { iss: url, aud: audience, iat: now(), exp: now() + 300, ...claims };
    const absent = Object.entries(payload).filter(([, value]) => value !== undefined);
    const token = new SignJWT(Object.fromEntries(absent)).setProtectedHeader({ alg: key.alg, kid, ...header } as never);
    return new Secret(await token.sign(key.privateKey));
  };
  return {
    url,
    asked,
    sign,
    setKeys: (...next: readonly Key[]) => {
      keys = next;
    },
    setAnswer: (next: typeof answer) => {
      answer = next;
    },
  };
}

/** The public half of a pair of keys as the issuer shows it. */
export async function jwkOf({ publicKey, alg }: Key) {
  const jwk = await exportJWK(publicKey);
  return { ...jwk, alg, use: "sig", kid: await calculateJwkThumbprint(jwk) };
}
