import { describe, expect, test } from "vitest";
import { redactManifest } from "../../../../src/core/redact/redact-manifest.ts";
import { redactFailureMessage, redactMessage } from "../../../../src/core/redact/redact-message.ts";
import { service, shapeOf } from "../given.ts";

const shape = shapeOf("service");

describe("a server's message about a manifest", () => {
  const manifest = service({
    env: { DB_PASSWORD: "hunter2-of-ada", MODE: "fast", KEY: "secret://t:group:key" },
    kustomize: { patch: { spec: { auth_token: { parts: ["first-part", 4711, null] } } } },
  });

  test.each([
    ["env.DB_PASSWORD must not be hunter2-of-ada", "env.DB_PASSWORD must not be (sensitive)"],
    ["env.MODE must not be fast", "env.MODE must not be fast"],
    ["no such secret: secret://t:group:key", "no such secret: secret://t:group:key"],
    ["neither first-part nor 4711", "neither (sensitive) nor (sensitive)"],
    ["cannot reach postgres://ada:pw@db/x", "cannot reach postgres://ada:(sensitive)@db/x"],
  ])("%s is shown as %s", (said, shown) => {
    expect(redactMessage(said, shape, manifest)).toBe(shown);
  });
});

test.each([
  ["fetching https://ada:hunter2@git.example.com/x failed", "fetching https://(sensitive)@git.example.com/x failed"],
  ["fetching git+ssh://key-of-ada@h/x failed", "fetching git+ssh://(sensitive)@h/x failed"],
  ["sent Authorization: Bearer abcdefgh1234", "sent Authorization: Bearer (sensitive)"],
  ["sent basic  YWRhOmh1bnRlcjI=, twice: Basic YWRhOmh1bnRlcjI=", "sent basic (sensitive), twice: Basic (sensitive)"],
  ["the bearer is short", "the bearer is short"],
  ["see https://example.com/a@b", "see https://example.com/a@b"],
  [`with ghp_${"a".repeat(36)}`, "with (sensitive)"],
])("the failure %s is told as %s", (message, told) => {
  expect(redactFailureMessage(message)).toBe(told);
});

describe("a manifest in an output", () => {
  test("has its fields in order, and each possible secret masked", () => {
    const shown = redactManifest(shape, {
      ...{ type: "service", name: "api" },
      ports: [{ port: 80, auth: { type: "basic_auth", username: "ada", password: "hunter2" } }],
      env: { PASSWORD: "hunter2", MODE: "fast" },
      labels: null,
    });
    expect(shown).toEqual({
      ...{ env: { MODE: "fast", PASSWORD: "(sensitive)" }, labels: null, name: "api" },
      ports: [{ auth: { password: "(sensitive)", type: "basic_auth", username: "ada" }, port: 80 }],
      type: "service",
    });
    expect(Object.keys(shown as object)).toEqual(["env", "labels", "name", "ports", "type"]);
  });

  test("has what the caller puts in place of secrets", () => {
    const mask = (hidden: unknown) => `<${String(hidden).length}>`;
    expect(redactManifest(shape, { env: { TOKEN: "hunter2" } }, { mask })).toEqual({ env: { TOKEN: "<7>" } });
    expect(redactManifest({ is: "value" }, "x", { sensitive: true })).toBe("(sensitive)");
    const list = { is: "list", items: { is: "value" } } as const;
    expect(redactManifest(list, ["x", "secret://t:g:k"], { sensitive: true })).toEqual([
      "(sensitive)",
      "secret://t:g:k",
    ]);
    const inner = { is: "object", fields: { a: { is: "value" } } } as const;
    expect(redactManifest({ is: "object", fields: { inner } }, { inner: { a: 1 } }, { sensitive: true })).toEqual({
      inner: { a: "(sensitive)" },
    });
  });
});
