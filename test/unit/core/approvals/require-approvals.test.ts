import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ApprovalRule, readApprovalRule, stricterRule } from "../../../../src/core/approvals/approval-rule.ts";
import {
  approvalMessage,
  findApprovals,
  requireApprovals,
  signerRule,
} from "../../../../src/core/approvals/require-approvals.ts";
import { readSshSignatures } from "../../../../src/core/approvals/ssh-signature.ts";
import { wireString, wireStrings } from "../../../../src/core/approvals/ssh-wire.ts";
import {
  fidoKey,
  fidoKeyTypes,
  hasSsh,
  isVerifiedBySsh,
  keyTypes,
  needsSsh,
  type SshKey,
  sshCertificate,
  sshKey,
  sshSignature,
} from "../../../support/ssh-keys.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const NOW = Date.UTC(2026, 11, 1);

let folder = "";
let ada: SshKey;
let ben: SshKey;
let signature = "";

beforeEach(needsSsh);

beforeAll(() => {
  if (!hasSsh) return;
  folder = mkdtempSync(join(tmpdir(), "holdfast-keys-"));
  [ada, ben] = [sshKey(folder, "ada"), sshKey(folder, "ben", "rsa")];
  signature = sshSignature(ada, approvalMessage(DIGEST));
  return () => rmSync(folder, { recursive: true, force: true });
});

function ruleOf(keys: readonly string[], atLeast = 1): ApprovalRule {
  const rule = readApprovalRule({ keys, atLeast });
  if (typeof rule === "string") throw new Error(rule);
  return rule;
}

function found(text: string, rule: ApprovalRule = ruleOf([ada.publicLine]), digest = DIGEST, now = NOW) {
  const { approvers, faults } = findApprovals(digest, { rule, text, now });
  return { names: approvers.map(({ name }) => name), faults };
}

function armored(bytes: Buffer): string {
  return `-----BEGIN SSH SIGNATURE-----\n${bytes.toString("base64")}\n-----END SSH SIGNATURE-----\n`;
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll(/-----[A-Z ]+-----/g, ""), "base64");
}

/** The same signature with other parts: key, namespace, reserved, hash and signature. */
function withParts(change: (parts: Buffer[]) => readonly Buffer[]): string {
  const bytes = bytesOf(signature);
  const parts = [...(wireStrings(bytes.subarray(10)) ?? [])];
  return armored(Buffer.concat([bytes.subarray(0, 10), ...change(parts).map(wireString)]));
}

describe("signatures of ssh-keygen", () => {
  test.each(keyTypes)("a key of the type %s approves a plan, as ssh-keygen itself finds", (type) => {
    const key = sshKey(folder, `of-${type}`, type);
    const made = sshSignature(key, approvalMessage(DIGEST));
    expect(found(made, ruleOf([key.publicLine]))).toEqual({ names: [`of-${type}`], faults: [] });
    expect(isVerifiedBySsh(folder, key, made, approvalMessage(DIGEST))).toBe(true);
    const other = found(made, ruleOf([key.publicLine]), `sha256:${"b".repeat(64)}`);
    expect(other.names).toEqual([]);
    expect(other.faults).toEqual([expect.stringContaining("another plan, or the signature is damaged")]);
  });

  test.each(fidoKeyTypes)(
    "a FIDO key approves a plan, as ssh-keygen itself finds, where its device was touched: %s",
    (type) => {
      const key = fidoKey("ada", type);
      const rule = ruleOf([key.publicLine]);
      const other = fidoKey("ada", type);
      for (let at = 0; at < 20; at += 1) {
        const digest = `sha256:${at}`;
        expect(found(key.sign(approvalMessage(digest)), rule, digest)).toEqual({ names: ["ada"], faults: [] });
      }
      const made = key.sign(approvalMessage(DIGEST));
      expect(isVerifiedBySsh(folder, key, made, approvalMessage(DIGEST))).toBe(true);
      // With a PIN too.
      expect(found(key.sign(approvalMessage(DIGEST), { flags: 5 }), rule).names).toEqual(["ada"]);
      for (const bad of [
        key.sign(approvalMessage("sha256:other")),
        // Nobody has touched it, whether it says so or not.
        key.sign(approvalMessage(DIGEST), { flags: 4 }),
        key.sign(approvalMessage(DIGEST), { flags: 1, signedFlags: 0 }),
        other.sign(approvalMessage(DIGEST)),
      ])
        expect(found(bad, rule).names).toEqual([]);
      const bytes = bytesOf(made);
      for (let at = 0; at < bytes.length; at += 1) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(found(armored(changed), rule).names, `byte ${at}`).toEqual([]);
        expect(found(armored(bytes.subarray(0, at)), rule).names, `${at} bytes`).toEqual([]);
      }
      expect(found(armored(Buffer.concat([bytes, Buffer.alloc(1)])), rule).names).toEqual([]);
    },
  );

  test("one of a certificate does not count, and says so", () => {
    const key = sshKey(folder, "certified");
    const line = sshCertificate(key, ben);
    const made = sshSignature({ file: `${key.file}-cert.pub` }, approvalMessage(DIGEST));
    expect(found(made, ruleOf([key.publicLine])).faults).toEqual([
      "signature 1 does not count: it was made with a certificate, and only keys are read",
    ]);
    for (const refused of [
      line,
      `ada ${line}`,
      `ada cert-authority ${ben.publicLine}`,
      `cert-authority ${ben.publicLine}`,
    ])
      expect(readApprovalRule({ keys: [refused] })).toContain("certificates are not read: name the keys themselves");
    expect(ruleOf([`${ben.publicLine} of cert-authority`]).keys).toHaveLength(1);
  });

  test("ecdsa signatures are accepted whatever the length of their numbers", () => {
    const key = sshKey(folder, "many", "ecdsa-521");
    const rule = ruleOf([key.publicLine]);
    for (let at = 0; at < 20; at += 1) {
      const digest = `sha256:${at}`;
      expect(found(sshSignature(key, approvalMessage(digest)), rule, digest).names).toEqual(["many"]);
    }
  });

  test("a key of nobody, another namespace and a second signature of one key do not count", () => {
    const eve = sshKey(folder, "eve");
    expect(found(sshSignature(eve, approvalMessage(DIGEST)))).toEqual({
      names: [],
      faults: [expect.stringMatching(/^signature 1 does not count: the key SHA256:\S+ is none of those/)],
    });
    expect(found(sshSignature(ada, approvalMessage(DIGEST), "file")).faults).toEqual([
      "signature 1 does not count: ada made it for file, and not for holdfast-plan",
    ]);
    expect(found(signature + sshSignature(ada, approvalMessage(DIGEST)))).toEqual({
      names: ["ada"],
      faults: ["signature 2 does not count: ada has approved the plan already"],
    });
  });

  test("a signature of one key is not taken for one of another", () => {
    const blob = Buffer.from(ben.publicLine.split(" ")[1] ?? "", "base64");
    const rule = ruleOf([ada.publicLine, ben.publicLine]);
    expect(
      found(
        withParts(([, ...rest]) => [blob, ...rest]),
        rule,
      ).names,
    ).toEqual([]);
  });

  test("the times of a key's line hold", () => {
    const timed = ruleOf([`ada valid-after="20261101Z",valid-before="202612011200Z" ${ada.publicLine}`]);
    expect(found(signature, timed).names).toEqual(["ada"]);
    expect(found(signature, timed, DIGEST, Date.UTC(2026, 11, 1, 12)).faults).toEqual([
      "signature 1 does not count: the key of ada has not counted since 2026-12-01T12:00:00Z",
    ]);
    expect(found(signature, timed, DIGEST, Date.UTC(2026, 9, 31)).faults).toEqual([
      "signature 1 does not count: the key of ada does not count until 2026-11-01T00:00:00Z",
    ]);
  });
});

describe("hostile signatures", () => {
  test("a changed byte anywhere makes a signature not count", () => {
    const bytes = bytesOf(signature);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(found(armored(changed)).names, `byte ${at}`).toEqual([]);
    }
  });

  test("one that is cut off anywhere, or goes on, does not count", () => {
    const bytes = bytesOf(signature);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(found(armored(bytes.subarray(0, length))).names, `${length} bytes`).toEqual([]);
    }
    expect(found(armored(Buffer.concat([bytes, Buffer.alloc(4)]))).names).toEqual([]);
    for (let length = 0; length < signature.trimEnd().length; length += 1) {
      expect(found(signature.slice(0, length)).names, `${length} characters`).toEqual([]);
    }
  });

  test.each<[string, () => string]>([
    ["text after it", () => `${signature}hello`],
    ["blanks within its base64", () => signature.replace(/\n(.)/, "\n $1")],
    ["a version that is not known", () => armored(bytesOf(signature).fill(2, 9, 10))],
    ["a hash that is not known", () => withParts(([a, b, c, , e]) => [a, b, c, Buffer.from("sha1"), e] as Buffer[])],
    ["a length beyond its end", () => armored(bytesOf(signature).fill(0xff, 10, 14))],
    ["an algorithm of another key", () => withParts(([a, b, c, d]) => [a, b, c, d, wireString("ssh-rsa")] as Buffer[])],
    ["an empty signature", () => withParts(([a, b, c, d]) => [a, b, c, d, Buffer.alloc(0)] as Buffer[])],
    ["nothing in it", () => armored(Buffer.alloc(0))],
  ])("one with %s does not count, and a good one beside it does", (_, make) => {
    expect(found(make())).toEqual({ names: [], faults: [expect.stringMatching(/^signature 1 does not count: /)] });
    expect(found(signature + make()).names).toEqual(["ada"]);
  });

  test("text before a signature, and the beginning of another one, are faults beside it", () => {
    expect(found(`hello ${signature}`)).toEqual({
      names: ["ada"],
      faults: [expect.stringContaining("cannot be read")],
    });
    const begun = signature.slice(0, 50) + signature;
    expect(found(begun)).toEqual({ names: ["ada"], faults: [expect.stringContaining("cannot be read")] });
  });

  test("more than a hundred signatures are not looked at", () => {
    expect(readSshSignatures(armored(Buffer.alloc(3)).repeat(500))).toHaveLength(101);
  });
});

describe("the rule", () => {
  test.each<[string, readonly string[], number, string]>([
    ["no key", ["hello"], 1, "no key of a type that is read"],
    ["a key of another type", ["ssh-dss AAAAB3NzaC1kc3M= x"], 1, "no key of a type that is read"],
    ["a key that is cut off", ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMq x"], 1, "it is cut off or no public key"],
    ["text that is no base64", ["ssh-ed25519 A*** x"], 1, "it is cut off or no public key"],
    ["more signatures than keys", [], 2, "asks for 2 signatures, and has one key"],
    ["only a comment", ["# nothing"], 1, "asks for 1 signatures, and has 0 keys"],
  ])("is refused with %s", (_, keys, atLeast, why) => {
    expect(readApprovalRule({ keys: keys.length === 0 ? [ada.publicLine] : keys, atLeast })).toContain(why);
  });

  test.each([
    ["no-touch-required", "the option no-touch-required is not supported"],
    ['namespaces="git,file"', "its namespaces do not name holdfast-plan"],
    ['valid-before="20270101"', "valid-before is no time in UTC"],
    ['valid-before="20271399Z"', "valid-before is no time in UTC"],
    ['valid-before="20270231Z"', "valid-before is no time in UTC"],
    ["=", "its options cannot be read"],
  ])("is refused with the option %s", (option, why) => {
    expect(readApprovalRule({ keys: [`ada ${option} ${ada.publicLine}`] })).toContain(why);
  });

  test.each(['valid-before="20200101Z"', "restrict", "no-pty", "!ada,ben", "*"])(
    "is refused with %s in the place of the name",
    (first) => {
      expect(readApprovalRule({ keys: [`${first} ${ada.publicLine}`] })).toContain("its first word is the name");
    },
  );

  test("names one key once, and no RSA key below 2,048 bits", () => {
    const twice = readApprovalRule({ keys: [ada.publicLine, `other ${ada.publicLine}`] });
    expect(twice).toBe("`approvals` names one key twice, as ada and as other");
    const small = readApprovalRule({ keys: [sshKey(folder, "small", "rsa-1024").publicLine] });
    expect(small).toContain("it has 1024 bits, and at least 2048 are needed");
  });

  test("another spelling of an RSA key is refused, so that one key does not count twice", () => {
    const [type, blob = ""] = ben.publicLine.split(" ");
    const [name, e, n] = (wireStrings(Buffer.from(blob, "base64")) ?? []) as [Buffer, Buffer, Buffer];
    const padded = Buffer.concat([name, e, Buffer.concat([Buffer.alloc(1), n])].map(wireString));
    expect(readApprovalRule({ keys: [`${type} ${padded.toString("base64")} ben`] })).toContain("no valid public key");
  });

  test("the stricter of two holds: more signatures, and only keys of both", () => {
    const strict = stricterRule(ruleOf([ada.publicLine, ben.publicLine]), ruleOf([ben.publicLine]));
    expect(strict?.keys.map(({ name }) => name)).toEqual(["ben"]);
    const more = stricterRule(ruleOf([ada.publicLine, ben.publicLine], 2), ruleOf([ada.publicLine, ben.publicLine]));
    expect(more?.atLeast).toBe(2);
    expect(stricterRule(null, null)).toBeNull();
    expect(stricterRule(null, more)).toBe(more);
  });

  test("of a plan that asks for no approvals has the keys of those who have signed, without names", () => {
    const text = `hello ${signature}${sshSignature(ben, approvalMessage(DIGEST))}`;
    const [one, other] = ruleOf([ada.publicLine, ben.publicLine]).keys.map(({ fingerprint }) => fingerprint);
    const rule = signerRule(text);
    expect(rule.atLeast).toBe(1);
    expect(
      rule.keys.map(({ type, name, validAfter, validBefore, line }) => [type, name, validAfter, validBefore, line]),
    ).toEqual([
      ["ssh-ed25519", one, null, null, ""],
      ["ssh-rsa", other, null, null, ""],
    ]);
    expect(found(text, rule).names).toEqual([one, other]);
  });

  test("says which keys are left where approvals are missing", () => {
    const rule = ruleOf([ada.publicLine, ben.publicLine], 2);
    const file = { path: "plan.json.approvals", text: signature };
    expect(() => requireApprovals(DIGEST, { rule, file, now: NOW })).toThrow(
      expect.objectContaining({
        ...{ code: "refused", message: "the plan needs 2 approvals, and has ada", diagnostics: [] },
        hint: "let ben run holdfast approve on exactly this plan; the signatures are read from plan.json.approvals",
      }),
    );
    const both = { ...file, text: signature + sshSignature(ben, approvalMessage(DIGEST)) };
    expect(requireApprovals(DIGEST, { rule, file: both, now: NOW }).map(({ name }) => name)).toEqual(["ada", "ben"]);
  });
});
