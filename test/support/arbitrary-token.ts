import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import fc from "fast-check";

/** Keys that a server has never heard of. */
const foreign: { readonly [alg: string]: KeyObject } = {
  EdDSA: generateKeyPairSync("ed25519").privateKey,
  RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
};

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1e308,
    -0,
    2 ** 53,
    "",
    "\0",
    "a\0b",
    "é\u202e😀",
    "\ud800",
    [],
    [[]],
    {},
  ),
  fc.constantFrom("__proto__", "constructor", "toString", "' OR 1=1 --", "../../etc/passwd", "x".repeat(3000)),
);

/** A JSON object of some of the given members, each with one of its values or an odd one, and sometimes further members. */
function objectOf(members: { readonly [name: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<unknown> {
  const values = Object.entries(members).map(([name, value]) => [name, fc.oneof(value, odd)] as const);
  const known = fc.record(Object.fromEntries(values), { requiredKeys: [] });
  return fc.tuple(known, fc.dictionary(fc.string(), odd, { maxKeys: 2 })).map(([own, more]) => ({ ...more, ...own }));
}

/** Headers of a JWT, right ones and wrong ones. */
const headers = (kids: readonly string[]) =>
  fc.oneof(fc.record({ alg: fc.constant("EdDSA"), kid: odd }), looseHeaders(kids));

const looseHeaders = (kids: readonly string[]) =>
  objectOf({
    alg: fc.constantFrom("EdDSA", "none", "HS256", "RS256", "ES256", "Ed25519"),
    kid: fc.constantFrom(...kids),
    typ: fc.constantFrom("JWT", "at+jwt"),
    crit: fc.constantFrom(["b64"], ["exp"], [1], []),
    b64: fc.boolean(),
    jwk: fc.constant({ kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }),
    jku: fc.constant("http://169.254.169.254/"),
    enc: fc.constant("A256GCM"),
    zip: fc.constant("DEF"),
  });

const time = fc.constantFrom<unknown>(0, 1, -1, 4e9, 1e20, 0.5, "1", "now", null, [1], {});

/** Payloads of a JWT, right ones and wrong ones. */
export const payloads: fc.Arbitrary<unknown> = objectOf({
  iss: fc.constant("holdfast"),
  sub: fc.constantFrom<unknown>("account", 7, ["a"], { a: 1 }, true),
  jti: fc.constantFrom<unknown>("jwt", 7, ["a"], { a: 1 }, "\0"),
  iat: time,
  nbf: time,
  exp: time,
  aud: fc.constantFrom<unknown>("holdfast", ["a"], 1),
  name: fc.constant("ci"),
});

const text = (value: unknown) => Buffer.from(JSON.stringify(value) ?? "").toString("base64url");
// JSON has no NaN and takes no key twice; others write them all the same.
const garbage = fc.oneof(
  fc.constantFrom('{"exp":NaN}', '{"alg":"EdDSA","alg":"none"}', "{", "null", "[]", '"', "\0", "\ufeff{}", ""),
  fc.string({ unit: "binary" }),
);
const part = fc.oneof(
  garbage.map((value) => Buffer.from(value).toString("base64url")),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
  fc.string({ unit: fc.constantFrom(..."AZaz09-_~+/"), maxLength: 60 }),
);

/** Signs like the given algorithm, with a key of ours; an algorithm that is none gives nothing. */
function signature(alg: unknown, input: string, secret: string): string {
  const bytes = Buffer.from(input);
  if (alg === "HS256") return createHmac("sha256", secret).update(input).digest("base64url");
  const key = typeof alg === "string" && Object.hasOwn(foreign, alg) ? foreign[alg] : undefined;
  return key === undefined ? "" : sign(alg === "EdDSA" ? null : "sha256", bytes, key).toString("base64url");
}

/** Bearer tokens that stand for nobody, most of them nearly a JWT; `kids` are those of keys that the server knows. */
export function worthlessTokens(kids: readonly string[]): fc.Arbitrary<string> {
  const secrets = fc.constantFrom(...kids, "", "secret");
  const nearly = fc.tuple(headers(kids), payloads, secrets, fc.option(part)).map(([header, payload, secret, other]) => {
    const input = `${text(header)}.${text(payload)}`;
    const alg = typeof header === "object" && header !== null && "alg" in header ? header.alg : undefined;
    return `${input}.${other ?? signature(alg, input, secret)}`;
  });
  const pieces = fc.array(fc.oneof(part, headers(kids).map(text), payloads.map(text)), { minLength: 1, maxLength: 6 });
  // What is no token at all by its characters is refused before anybody looks into it.
  return fc
    .oneof(
      { weight: 3, arbitrary: nearly },
      pieces.map((all) => all.join(".")),
    )
    .filter((token) => token !== "" && token.length < 15_000);
}
