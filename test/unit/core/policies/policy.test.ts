import { describe, expect, test } from "vitest";
import type { PolicyFinding } from "../../../../src/contract/generated/output.ts";
import {
  allFindings,
  findingOf,
  findingText,
  isConsentOutdated,
  type Policy,
  policyConsent,
  refusingFindings,
  remedyText,
  strictestFindings,
} from "../../../../src/core/policies/policy.ts";

const finding = (name: string, severity: PolicyFinding["severity"], message = "no"): PolicyFinding => ({
  ...{ name, severity, message },
  ...{ file: "p.yaml", line: 4, column: 1 },
});
const names = (findings: readonly PolicyFinding[]) => findings.map(({ name, message }) => `${name}: ${message}`);

describe("a finding", () => {
  const policy: Policy = {
    ...{ name: "tags", severity: "warn", message: "name a version", over: "step", match: null, digest: "d" },
    ...{ file: "p.yaml", placeOf: (offset: number) => ({ line: 3, column: offset + 1 }) },
  };

  test("is the message of its policy, where that begins", () => {
    expect(findingOf(policy, null)).toEqual({
      ...{ name: "tags", severity: "warn", message: "name a version" },
      ...{ file: "p.yaml", line: 3, column: 1 },
    });
  });

  test("of an expression without an answer denies, and says why, where it fails", () => {
    expect(findingOf(policy, { message: "no such key", offset: 7 })).toEqual({
      ...{ name: "tags", severity: "deny", message: "the policy's expression cannot be evaluated: no such key" },
      ...{ file: "p.yaml", line: 3, column: 8 },
    });
  });

  test.each<[PolicyFinding["severity"], string]>([
    ["deny", "policy a denies it: no (p.yaml:4)"],
    ["confirm", "policy a asks a person: no (p.yaml:4)"],
    ["warn", "policy a warns: no (p.yaml:4)"],
  ])("that is to %s is told in words", (severity, text) => {
    expect(findingText(finding("a", severity))).toBe(text);
  });
});

describe("findings", () => {
  test("are those of the plan, then those of each step", () => {
    const steps = new Map([
      ["team/a", [finding("b", "warn"), finding("c", "warn")]],
      ["team/b", [finding("d", "warn")]],
    ]);
    expect(names(allFindings({ plan: [finding("a", "warn")], steps }))).toEqual(["a: no", "b: no", "c: no", "d: no"]);
  });

  test.each<[string, readonly [PolicyFinding["severity"], string][], string]>([
    [
      "the strictest",
      [
        ["deny", "1"],
        ["confirm", "2"],
        ["warn", "3"],
      ],
      "a: 1",
    ],
    [
      "the strictest, also where it comes later",
      [
        ["warn", "1"],
        ["confirm", "2"],
      ],
      "a: 2",
    ],
    [
      "the later of two that are as strict",
      [
        ["confirm", "1"],
        ["confirm", "2"],
      ],
      "a: 2",
    ],
  ])("of one name are %s", (_, given, strictest) => {
    const findings = given.map(([severity, message]) => finding("a", severity, message));
    expect(names(strictestFindings([...findings, finding("b", "warn")]))).toEqual([strictest, "b: no"]);
  });

  test("refuse where they deny, or ask a person who has not allowed it", () => {
    const findings = [finding("a", "deny"), finding("b", "confirm"), finding("c", "warn")];
    expect(names(refusingFindings(findings, () => false))).toEqual(["a: no", "b: no"]);
    expect(names(refusingFindings(findings, () => true))).toEqual(["a: no"]);
    expect(names(refusingFindings([...findings, finding("d", "confirm")], (name) => name === "b"))).toEqual([
      "a: no",
      "d: no",
    ]);
  });

  test("are allowed by the flags of those that ask, and by nothing where one denies", () => {
    expect(remedyText([finding("a", "confirm"), finding("w", "warn"), finding("b", "confirm")])).toBe(
      "--allow-policy a --allow-policy b allows it",
    );
    expect(remedyText([finding("a", "confirm"), finding("b", "deny")])).toBe(
      "nothing allows it: change what is declared, or the policy",
    );
  });
});

describe("consent to a policy", () => {
  const policies = [
    { name: "a", digest: "2" },
    { name: "b", digest: "3" },
    { name: "a", digest: "1" },
    { name: "a", digest: "2" },
  ];

  test("names what all policies of the name are, each once, in an order of its own", () => {
    expect(policyConsent("a", policies)).toBe("policy:a@1+2");
  });

  test("is outdated where the policies of the name are others by now", () => {
    expect(isConsentOutdated(["policy:a@1+2", "adopts"], "a", policies)).toBe(false);
    expect(isConsentOutdated(["policy:b@3", "policy:a@1"], "a", policies)).toBe(true);
    expect(isConsentOutdated(["policy:ab@9", "policy:b@8"], "a", policies)).toBe(false);
    expect(isConsentOutdated([], "a", policies)).toBe(false);
  });
});
