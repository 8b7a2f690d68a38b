import { describe, expect, it } from "vitest";
import { excerptOf } from "../../../../src/core/redact/masked-excerpt.ts";

const CANARY = "CANARY-4f1c9a";

describe("an excerpt of a source line", () => {
  it.each([
    ["replicas: two", 11, { line: "replicas: two", column: 11 }],
    ['  "replica": 2,', 3, { line: '  "replica": 2,', column: 3 }],
    ["  - port: 80", 5, { line: "  - port: 80", column: 5 }],
    ["  - user:somebody@example.com", 5, { line: "  - user:somebody@example.com", column: 5 }],
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

  it("points at the beginning of a masked value, whatever is behind the mask", () => {
    expect(excerptOf(`password: ${CANARY}`, 18)).toEqual({ line: "password: (sensitive)", column: 11 });
  });

  it("is cut where it is wide, and left out where the place is further on", () => {
    expect(excerptOf(`name: ${"a".repeat(200)}`, 7)?.line).toHaveLength(73);
    expect(excerptOf(`name: ${"a ".repeat(100)}`, 90)).toBe(null);
  });
});
