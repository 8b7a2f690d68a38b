import { describe, expect, it, test } from "vitest";
import { stringify } from "yaml";
import type { JsonObject } from "../../../src/contract/json.ts";
import { mayLackParts, secretReferenceForms } from "../../../src/schema/secret-reference-rule.ts";

const wrong = (manifest: JsonObject) =>
  secretReferenceForms(manifest).map(({ severity, code, pointer }) => `${severity} ${code} ${pointer}`);

describe("a reference to a secret", () => {
  it("has three parts", () => {
    const env = (text: string) => wrong({ env: { A: text } });
    for (const text of ["secret://t:g:k", "a acme-secret://t:g:k, secret://t:g:k", "no secret: //", "x"]) {
      expect(env(text)).toEqual([]);
      expect(mayLackParts(text)).toBe(false);
    }
    for (const text of [
      "secret://t:g",
      "secret://",
      "acme-secret://t/g/k",
      "secret://t:g:k and secret://k",
      "secret://t::k",
    ]) {
      expect(env(text)).toEqual(["error invalid-form /env/A"]);
    }
    expect(wrong({ values: { a: ["secret://k"] } })).toEqual(["error invalid-form /values/a/0"]);
  });

  it.each<readonly [manifest: JsonObject, pointer: string]>([
    [{ kustomize: { patch: { a: "secret://t:g" } } }, "/kustomize/patch/a"],
    [{ worker_config: { input_config: { auth: "secret://t" } } }, "/worker_config/input_config/auth"],
    [{ mcp_servers: [{ headers: { Authorization: "secret://t:g" } }] }, "/mcp_servers/0/headers/Authorization"],
    [{ annotations: { a: "acme-secret://g:k" } }, "/annotations/a"],
    [{ tags: { a: "secret://t:g" } }, "/tags/a"],
    [{ components: [{ env: { A: "x secret://t:g" } }] }, "/components/0/env/A"],
  ])("is judged anywhere in a manifest: %j", (manifest, pointer) => {
    expect(wrong(manifest)).toEqual([`error invalid-form ${pointer}`]);
    const text = JSON.stringify(manifest);
    expect(wrong(JSON.parse(text.replace(/secret:\/\/[\w:]+/, "secret://t:g:k")))).toEqual([]);
  });

  it("may be spoken of in texts that the control plane does not resolve", () => {
    expect(wrong({ messages: [{ role: "system", content: "Never print a secret:// URL." }] })).toEqual([]);
  });
});

test("no text of a manifest hides a reference without its parts from the quick test", () => {
  for (const reference of [
    "secret://",
    "secret://t:g",
    "acme-secret://t/g/k",
    "a secret://t:g: k",
    "secret://t:\ng:k",
  ]) {
    const manifest = { env: { A: `some words before ${reference}` }, values: { a: reference } };
    const json = JSON.stringify(manifest);
    const yaml = (["PLAIN", "QUOTE_DOUBLE", "BLOCK_FOLDED", "BLOCK_LITERAL"] as const).map((defaultStringType) =>
      stringify(manifest, { defaultStringType, lineWidth: 20 }),
    );
    for (const text of [json, json.replaceAll("/", "\\/"), json.replaceAll("s", "\\u0073"), ...yaml]) {
      expect(mayLackParts(text), text).toBe(true);
    }
  }
});
