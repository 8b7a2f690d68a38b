import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactMessage } from "../../../src/core/redact/redact-message.ts";
import { isCredential, MASK } from "../../../src/model/credential.ts";
import { differences } from "../../../src/model/differences.ts";
import { isSecretKey, isSecretReference, redactValue } from "../../../src/model/sensitive-fields.ts";
import { processorMs } from "../../support/processor-time.ts";
import { service, shapeOf } from "../core/given.ts";

describe("names", () => {
  test.each([
    "password",
    "DB_PASSWORD",
    "passwd",
    "apiKey",
    "API_KEY",
    "api-key",
    "Token",
    "authToken",
    "client_secret",
    "secretKey",
    "private_key",
    "Authorization",
    "auth",
    "DSN",
    "sentry_dsn",
    "PASSPHRASE",
    "credentials",
    "AWS_SECRET_ACCESS_KEY",
  ])("%s tells of a secret", (name) => expect(isSecretKey(name)).toBe(true));

  test.each([
    "max_tokens",
    "min_new_tokens",
    "pad_token",
    "eos_token_id",
    "LOW_PASS",
    "secret_fqn",
    "token_url",
    "PASSWORD_FILE",
    "token_path",
    "author",
    "replicas",
    "key",
    "public_key",
    "name",
  ])("%s tells of none", (name) => expect(isSecretKey(name)).toBe(false));
});

describe("values", () => {
  test.each([
    ["-----BEGIN RSA PRIVATE KEY-----\nMIIE", true],
    ["AKIAIOSFODNN7EXAMPLE", true],
    [`ghp_${"a".repeat(36)}`, true],
    ["glpat-abcdefghij0123456789", true],
    ["xoxb-1234567890-abc", true],
    [`prefix sk-${"a".repeat(24)} suffix`, true],
    ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", true],
    ["registry/api:1", false],
    ["eyJust a text", false],
    ["sk-short", false],
    ["sk-ecdsa-sha2-nistp256-cert-v01@openssh.com AAAAInNrLWVjZHNhLXNoYTI=", false],
  ])("%j is a credential: %s", (value, isOne) => expect(isCredential(value)).toBe(isOne));

  test("are no secret where they only refer to one", () => {
    expect(isSecretReference("secret://tenant:group:key")).toBe(true);
    expect(isSecretReference("acme-secret://tenant:group:key")).toBe(true);
    expect(isSecretReference("secret://tenant:group:key and more")).toBe(false);
    expect(redactValue("secret://tenant:group:key", true)).toBe("secret://tenant:group:key");
  });

  test("are told quickly, however they are made", () => {
    const started = processorMs();
    for (const text of [
      "-----BEGIN ".repeat(5_000),
      `-----BEGIN ${"A ".repeat(50_000)}`,
      "a://".repeat(20_000),
      `a://${"b".repeat(100_000)}`,
      "eyJ".repeat(30_000),
      "eyJaaaaaaaa.".repeat(10_000),
    ])
      redactValue(text);
    expect(processorMs() - started).toBeLessThan(1_000);
  });
});

describe("redacting", () => {
  test("masks under secret-looking keys, at any depth, and named values", () => {
    const value = {
      a: [
        { password: "x", b: { Token: 1 } },
        { name: "DB_PASSWORD", value: "y" },
        { name: "PLAIN", value: "z" },
      ],
      u: "https://u:p@h/",
    };
    expect(redactValue(value)).toEqual({
      a: [
        { password: MASK, b: { Token: MASK } },
        { name: "DB_PASSWORD", value: MASK },
        { name: "PLAIN", value: "z" },
      ],
      u: MASK,
    });
  });

  test("masks keys that are secrets, and counts them", () => {
    const value = { "https://u:p1@h.example": 1, "https://u:p2@h.example": 2, plain: 3 };
    expect(redactValue({ value })).toEqual({ value: { [MASK]: 1, [`${MASK} 2`]: 2, plain: 3 } });
  });

  test("masks what a Kubernetes Secret in a patch keeps, in values and in differences", () => {
    const held = (text: string) => ({
      kind: "Secret",
      metadata: { name: "db" },
      stringData: { url: text },
      data: { k: text },
    });
    expect(redactValue(held("x"))).toEqual({
      kind: "Secret",
      metadata: { name: "db" },
      stringData: MASK,
      data: MASK,
    });
    expect(redactValue({ kind: "ConfigMap", data: { k: "shown" } })).toEqual({
      kind: "ConfigMap",
      data: { k: "shown" },
    });
    const [before, after] = ["old", "new"].map((text) => service({ kustomize: { additions: [held(text)] } }));
    const found = differences(shapeOf("service"), before, after);
    expect(found.map(({ tokens, sensitive }) => [tokens.at(-1), sensitive])).toEqual([
      ["k", true],
      ["url", true],
    ]);
  });

  test("leaves no leaf of a sensitive value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shown = redactValue(value as never, true);
        expect(shown === MASK || shown === null || isSecretReference(shown)).toBe(true);
      }),
    );
  });
});

describe("what somebody else said of a manifest", () => {
  const manifest = service({
    env: { DB_PASSWORD: 'CANARY-"1"', PIN: "1234", SECRET_PIN: 12 },
    kustomize: { patch: { env: [{ name: "API_KEY", value: "CANARY-2" }] } },
  });
  const said = (text: string) => redactMessage(text, shapeOf("service"), manifest);

  test("loses the manifest's secrets, escaped ones too", () => {
    expect(said('value CANARY-"1" refused')).toBe(`value ${MASK} refused`);
    expect(said('{"value":"CANARY-\\"1\\""}')).toBe(`{"value":"${MASK}"}`);
    expect(said("CANARY-2CANARY-2")).toBe(MASK + MASK);
  });

  test("keeps everything else", () => {
    expect(said("replicas: 12 is too many for api 1234")).toBe("replicas: 12 is too many for api 1234");
  });
});
