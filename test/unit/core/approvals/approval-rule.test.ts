import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/contract/json.ts";
import {
  type ApprovalKey,
  type ApprovalRule,
  readApprovalRule,
  stricterRule,
} from "../../../../src/core/approvals/approval-rule.ts";
import {
  approvalDiagnostics,
  approvalsDemanded,
  requireApprovals,
  signerRule,
} from "../../../../src/core/approvals/require-approvals.ts";
import { readSshPublicKey } from "../../../../src/core/approvals/ssh-public-key.ts";
import { positiveInteger, wireStart, wireString, wireStrings } from "../../../../src/core/approvals/ssh-wire.ts";
import { HoldfastError } from "../../../../src/core/errors.ts";

const blobOf = (...parts: readonly (Buffer | string)[]) => Buffer.concat(parts.map(wireString)).toString("base64");
/** An Ed25519 key of which every byte is the number. */
const key = (number: number) => `ssh-ed25519 ${blobOf("ssh-ed25519", Buffer.alloc(32, number))}`;

function ruleOf(given: Json): ApprovalRule {
  const rule = readApprovalRule(given);
  if (typeof rule === "string") throw new TypeError(rule);
  return rule;
}

function keyOf(line: string): ApprovalKey {
  const [first] = ruleOf({ keys: [line] }).keys;
  if (first === undefined) throw new TypeError("no key");
  return first;
}

describe("a rule for approvals", () => {
  test("has the keys of all its texts, without comments and empty lines", () => {
    const rule = ruleOf({ keys: [`# team\n  ${key(1)} ada \r\n\n#${key(9)}`, key(2)], atLeast: 2 });
    expect(rule.keys.map(({ name, line }) => [name, line])).toEqual([
      ["ada", `${key(1)} ada`],
      [rule.keys[1]?.fingerprint, key(2)],
    ]);
    expect(rule.atLeast).toBe(2);
    expect(ruleOf({ keys: [key(1)] }).atLeast).toBe(1);
    expect(ruleOf({ keys: [key(1)], atLeast: null }).atLeast).toBe(1);
  });

  test.each<[Json, string]>([
    ["keys", "`approvals` names no `keys`"],
    [{ keys: key(1) }, "`approvals` names no `keys`"],
    [{ keys: [key(1)], atLeast: 0 }, "`approvals.atLeast` is no number from 1 on"],
    [{ keys: [key(1)], atLeast: 1.5 }, "`approvals.atLeast` is no number from 1 on"],
    [{ keys: [key(1)], atLeast: "1" }, "`approvals.atLeast` is no number from 1 on"],
    [{ keys: [key(1), key(2)], atLeast: 3 }, "`approvals` asks for 3 signatures, and has 2 keys"],
    [{ keys: [key(1)], atLeast: 2 }, "`approvals` asks for 2 signatures, and has one key"],
    [
      { keys: ["x".repeat(40)] },
      `\`approvals\` has a key that cannot be used (${"x".repeat(40)}): no key of a type that is read follows (ssh-ed25519, ssh-rsa, ecdsa-sha2-nistp256, ecdsa-sha2-nistp384, ecdsa-sha2-nistp521, sk-ssh-ed25519@openssh.com, sk-ecdsa-sha2-nistp256@openssh.com)`,
    ],
  ])("%j is none", (given, why) => {
    expect(readApprovalRule(given)).toBe(why);
  });

  test("a long line is shown in part", () => {
    expect(readApprovalRule({ keys: [`ssh-ed25519 ${"x".repeat(60)}`] })).toBe(
      `\`approvals\` has a key that cannot be used (ssh-ed25519 ${"x".repeat(28)}…): it is cut off or no public key`,
    );
  });

  test.each<[string, Partial<ApprovalKey>]>([
    [`${key(1)} Ada Byron`, { name: "Ada Byron", validAfter: null, validBefore: null }],
    [`ada ${key(1)} comment`, { name: "ada" }],
    [`ada namespaces="git,holdfast-plan" ${key(1)}`, { name: "ada" }],
    [`ada valid-after="20261101Z" ${key(1)}`, { validAfter: Date.UTC(2026, 10, 1), validBefore: null }],
    [`ada valid-before="202611011230Z" ${key(1)}`, { validBefore: Date.UTC(2026, 10, 1, 12, 30), validAfter: null }],
    [
      `ada valid-after="20261031Z",valid-before="20261101123015Z" ${key(1)}`,
      { validAfter: Date.UTC(2026, 9, 31), validBefore: Date.UTC(2026, 10, 1, 12, 30, 15) },
    ],
    [`ada valid-after="20261031Z" namespaces="holdfast-plan" ${key(1)}`, { validAfter: Date.UTC(2026, 9, 31) }],
  ])("%s is read", (line, fields) => {
    expect(keyOf(line)).toMatchObject(fields);
  });

  test.each([
    [`ada valid-after="x20261101Z" ${key(1)}`, "valid-after is no time in UTC"],
    [`ada valid-after="20261101Zx" ${key(1)}`, "valid-after is no time in UTC"],
    [`ada valid-after="2026110112Z" ${key(1)}`, "valid-after is no time in UTC"],
    [`ada pty,valid-after="20261101Z" ${key(1)}`, "the option pty is not supported"],
    [`no-port-forwarding ${key(1)}`, "its first word is the name"],
    [`a?a ${key(1)}`, "its first word is the name"],
    [`ada ${key(1).replace("ssh-ed25519", "ssh-rsa")}`, "it says ssh-rsa, and the key itself is of another type"],
    [`ada ssh-ed25519 ${blobOf("ssh-ed25519", Buffer.alloc(31))}`, "it is no valid public key"],
    [`ada ssh-ed25519 ${blobOf("ssh-ed25519", Buffer.alloc(32), "")}`, "it is no valid public key"],
    ["ada ssh-ed25519", "no key of a type that is read follows"],
  ])("%s is refused", (line, why) => {
    expect(readApprovalRule({ keys: [line] })).toContain(why);
  });

  test("is as strict as both of two, also in the times of its keys", () => {
    const timed = (after: string, before: string) =>
      ruleOf({ keys: [`ada valid-after="${after}Z",valid-before="${before}Z" ${key(1)}`, key(2)] });
    const both = stricterRule(timed("20260101", "20261231"), timed("20260201", "20261130"));
    expect(both?.keys[0]).toMatchObject({ validAfter: Date.UTC(2026, 1, 1), validBefore: Date.UTC(2026, 10, 30) });
    expect(both?.keys[1]).toMatchObject({ validAfter: null, validBefore: null });
    const [one, other] = [timed("20260101", "20261231"), ruleOf({ keys: [key(1)] })];
    const times = { validAfter: Date.UTC(2026, 0, 1), validBefore: Date.UTC(2026, 11, 31) };
    expect(stricterRule(one, other)?.keys).toMatchObject([times]);
    expect(stricterRule(other, one)?.keys).toMatchObject([times]);
    expect(stricterRule(one, null)).toBe(one);
  });
});

describe("a plan without enough approvals is refused", () => {
  const refusal = (rule: ApprovalRule) => {
    try {
      requireApprovals("sha256:0", { rule, file: { path: "plan.json.approvals", text: "hello" }, now: 0 });
    } catch (error) {
      if (error instanceof HoldfastError) return error;
      throw error;
    }
    throw new TypeError("it is not refused");
  };

  test("with who can approve it, and why signatures do not count", () => {
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    const rule = ruleOf({ keys: names.map((name, nth) => `${name} ${key(nth)}`) });
    expect(refusal(rule)).toMatchObject({
      code: "refused",
      message: "the plan needs one approval, and has none",
      hint: "let a, b, c, d, e, 2 more run holdfast approve on exactly this plan; the signatures are read from plan.json.approvals",
      diagnostics: approvalDiagnostics(
        ["signature 1 does not count: it cannot be read"],
        "error",
        "plan.json.approvals",
      ),
    });
    expect(refusal({ ...rule, keys: rule.keys.slice(0, 5) }).hint).toMatch(/^let a, b, c, d, e run /);
  });

  test("for good where too few keys are left", () => {
    expect(refusal({ atLeast: 2, keys: [keyOf(key(1))] })).toMatchObject({
      message: "the plan needs 2 approvals, and has none",
      hint: "the plan and the configuration of this apply allow too few keys in common: make the plan again with plan --out FILE",
    });
    expect(refusal({ atLeast: 1, keys: [keyOf(`ada ${key(1)}`)] }).hint).toMatch(/^let ada run /);
  });

  test("as is a write without a plan", () => {
    const demanded = (atLeast: number) => approvalsDemanded({ atLeast, keys: [] }, "this apply");
    expect(demanded(1)).toMatchObject({
      code: "refused",
      message: "this apply needs a plan with an approval: the configuration demands it",
      hint: "holdfast plan --out plan.json, then holdfast approve plan.json, then holdfast apply --plan plan.json",
    });
    expect(demanded(2).message).toContain("needs a plan with 2 approvals:");
  });

  test("and says so of a file", () => {
    expect(approvalDiagnostics(["why"], "warning", "f")).toEqual([
      { severity: "warning", code: "approval", summary: "why", detail: null, file: "f", line: null, column: null },
    ]);
  });

  test("where nobody has signed, nobody's key counts", () => {
    expect(signerRule("hello")).toEqual({ atLeast: 1, keys: [] });
  });
});

describe("the public keys of SSH", () => {
  const point = (bytes: number, first = 4) => Buffer.concat([Buffer.of(first), Buffer.alloc(2 * bytes, 1)]);
  const modulus = (bytes: number, first: number, last = 1) =>
    Buffer.concat([Buffer.of(...(first > 0x7f ? [0, first] : [first])), Buffer.alloc(bytes - 2, 1), Buffer.of(last)]);
  const e = Buffer.of(1, 0, 1);

  test.each<[string, string, readonly (Buffer | string)[], string]>([
    ["a curve of another name", "ecdsa-sha2-nistp256", ["nistp384", point(32)], "it is no valid public key"],
    ["a point that is too long", "ecdsa-sha2-nistp256", ["nistp256", point(33)], "it is no valid public key"],
    ["a point that is compressed", "ecdsa-sha2-nistp256", ["nistp256", point(32, 2)], "it is no valid public key"],
    ["more than a point", "ecdsa-sha2-nistp256", ["nistp256", point(32), ""], "it is no valid public key"],
    ["a point that is on no curve", "ecdsa-sha2-nistp256", ["nistp256", point(32)], "it is no valid public key"],
    ["no point", "ecdsa-sha2-nistp256", ["nistp256"], "it is no valid public key"],
    ["no application", "sk-ssh-ed25519@openssh.com", [], "it is no valid public key"],
    ["more than two numbers", "ssh-rsa", [e, modulus(256, 0xff), e], "it is no valid public key"],
    ["one number", "ssh-rsa", [e], "it is no valid public key"],
    ["a negative exponent", "ssh-rsa", [Buffer.of(0x81), modulus(256, 0xff)], "it is no valid public key"],
    ["a modulus of zero", "ssh-rsa", [e, Buffer.alloc(1)], "it is no valid public key"],
    ["an exponent of five bytes", "ssh-rsa", [Buffer.of(1, 0, 0, 0, 1), modulus(256, 0xff)], "its exponent is unusual"],
    ["an even exponent", "ssh-rsa", [Buffer.of(2), modulus(256, 0xff)], "its exponent is unusual"],
    ["an even modulus", "ssh-rsa", [e, modulus(256, 0xff, 2)], "its exponent is unusual"],
    ["an exponent of one", "ssh-rsa", [Buffer.of(1), modulus(256, 0xff)], "its exponent is unusual"],
    ["2047 bits", "ssh-rsa", [e, modulus(256, 0x7f)], "it has 2047 bits, and at least 2048 are needed"],
    ["too many bits", "ssh-rsa", [e, modulus(2049, 1)], "it has 16385 bits, and at least 2048 are needed"],
  ])("with %s are refused", (_, type, parts, why) => {
    expect(readSshPublicKey(type, blobOf(type, ...parts))).toBe(why);
  });

  test.each<[string, readonly (Buffer | string)[]]>([
    ["ssh-rsa", [e, modulus(256, 0x80)]],
    ["ssh-rsa", [Buffer.of(1, 0, 0, 1), modulus(256, 0xff)]],
    ["ssh-rsa", [e, modulus(2048, 0xff)]],
    ["ssh-ed25519", [Buffer.alloc(32, 5)]],
  ])("of type %s are read: %#", (type, parts) => {
    const blob = blobOf(type, ...parts);
    expect(readSshPublicKey(type, blob)).toMatchObject({ type, blob, application: null });
  });

  test("have the application of a FIDO device", () => {
    const type = "sk-ssh-ed25519@openssh.com";
    expect(readSshPublicKey(type, blobOf(type, Buffer.alloc(32, 5), "ssh:"))).toMatchObject({
      application: Buffer.from("ssh:"),
      fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/),
    });
  });
});

describe("the encoding of SSH", () => {
  const text = (strings: readonly Buffer[] | null | undefined) => strings?.map(String) ?? null;
  const two = Buffer.concat(["ab", "c"].map(wireString));

  test("consists of strings, and nothing is left", () => {
    expect(text(wireStrings(two))).toEqual(["ab", "c"]);
    expect(text(wireStrings(Buffer.alloc(0)))).toEqual([]);
    expect(wireStrings(Buffer.concat([two, Buffer.alloc(3)]))).toBeNull();
    expect(wireStrings(two.subarray(0, -1))).toBeNull();
  });

  test("begins with so many strings, and has bytes behind them", () => {
    const start = wireStart(Buffer.concat([two, Buffer.of(7)]), 2);
    expect([text(start?.strings), start?.rest]).toEqual([["ab", "c"], Buffer.of(7)]);
    expect(text(wireStart(two, 1)?.strings)).toEqual(["ab"]);
    expect(text(wireStart(two, 9)?.strings)).toEqual(["ab", "c"]);
  });

  test.each<[readonly number[], readonly number[] | null]>([
    [[], null],
    [[0], null],
    [[0x7f], [0x7f]],
    [[0x80], null],
    [[0, 0x80], [0x80]],
    [[0, 0x7f], null],
    [
      [1, 0],
      [1, 0],
    ],
  ])("has positive integers in one form alone: %j", (bytes, number) => {
    expect(positiveInteger(Buffer.from(bytes))).toEqual(number === null ? null : Buffer.from(number));
  });
});
