import { describe, expect, it } from "vitest";
import { excerptOf } from "../../../../src/core/redact/masked-excerpt.ts";

const CANARY = "CANARY-4f1c9a";

describe("an excerpt of a source line", () => {
  it.each([
    ["replicas: two", 11, { line: "replicas: two", column: 11 }],
    ['  "replica": 2,', 3, { line: '  "replica": 2,', column: 3 }],
    ["  - port: 80", 5, { line: "  - port: 80", column: 5 }],
    ["  - user:somebody@example.com", 5, { line: "  - user:somebody@example.com", column: 5 }],
    ["- item", 3, { line: "- item", column: 3 }],
    ["'quoted.key': x", 2, { line: "'quoted.key': x", column: 2 }],
    ["args: [a, b]", 8, { line: "args: [a, b]", column: 8 }],
    [`key_name: ${"a ".repeat(31)}`, 71, { line: `key_name: ${"a ".repeat(31)}`, column: 71 }],
    [`${" ".repeat(70)}a:`, 72, { line: `${" ".repeat(70)}a:`, column: 72 }],
    ["env:", 1, { line: "env:", column: 1 }],
    ["  TOKEN: secret://holdfast:platform:key", 3, { line: "  TOKEN: secret://holdfast:platform:key", column: 3 }],
  ])("shows %s", (line, column, shown) => {
    expect(excerptOf(line, column)).toEqual(shown);
  });

  it.each([
    `  DB_PASSWORD: ${CANARY}`,
    `  "apiKey": "${CANARY}",`,
    `env: { DB_PASSWORD: ${CANARY} }`,
    `- { name: x, token: ${CANARY} }`,
    `dsn: postgres://me:${CANARY}@db/x`,
    `    ${CANARY}${CANARY}`,
    `  MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj${CANARY}`,
    `key: -----BEGIN PRIVATE KEY-----${CANARY}`,
  ])("hides the secret in %s", (line) => {
    expect(JSON.stringify(excerptOf(line, line.length - 2))).not.toContain(CANARY);
  });

  it.each([
    ["no field and no item", "just a text", 1],
    ["more than 2000 characters", `a: ${"b ".repeat(1000)}`, 1],
    ["a place that is too far", `a: ${"b ".repeat(50)}`, 73],
    ["more room before it than is shown", `${" ".repeat(73)}a:`, 1],
    ["a key between other quotes", `"a': b`, 1],
    ["a key that is too long", `${"k".repeat(129)}: b`, 1],
  ])("shows nothing of a line with %s", (_, line, column) => {
    expect(excerptOf(line, column)).toBe(null);
  });

  it("shows of a collection with a suspicious word only that it is one", () => {
    expect(excerptOf("env: { TOKEN: x }", 8)).toEqual({ line: "env: {…", column: 6 });
    expect(excerptOf("args: [--password, x]", 3)).toEqual({ line: "args: […", column: 3 });
    expect(excerptOf("text: a {token} b", 3)).toEqual({ line: "text: a {token} b", column: 3 });
  });

  it("points at the beginning of a masked value, whatever is behind the mask", () => {
    expect(excerptOf(`password: ${CANARY}`, 18)).toEqual({ line: "password: (sensitive)", column: 11 });
  });

  it("is cut where it is wide, and left out where the place is further on", () => {
    expect(excerptOf(`name: ${"a".repeat(200)}`, 7)?.line).toHaveLength(73);
    expect(excerptOf(`name: ${"a ".repeat(100)}`, 90)).toBe(null);
  });
});
