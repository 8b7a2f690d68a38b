import { describe, expect, test } from "vitest";
import { signingRefusal } from "../../../../src/core/guards/signing-refusal.ts";
import type { GuardRefusal } from "../../../../src/core/report/events.ts";
import { declare, plan } from "../given.ts";

const account = (name: string) => declare({ type: "virtual-account", name });
const waiting = (...names: readonly string[]) =>
  plan(names.map(account), {
    live: Object.fromEntries(names.map((name) => [`virtual-account/${name}`, { state: "absent" }])),
    hasSink: false,
  }).plan;
const refusal: GuardRefusal = {
  ...{ message: "one step would give somebody more rights", flags: ["--allow-privilege"], needsPerson: true },
  diagnostics: [{ severity: "error", code: "x", summary: "s", detail: null, file: null, line: null, column: null }],
};

describe("a plan is not signed", () => {
  test("where guards refuse it", () => {
    expect(signingRefusal({ plan: waiting(), refusal })).toBe(refusal);
    expect(signingRefusal({ plan: waiting(), refusal: null })).toBeNull();
  });

  test("where a token would have no place to go", () => {
    expect(signingRefusal({ plan: waiting("ci"), refusal: null })).toEqual({
      message: "one step needs a token sink",
      flags: ["--sink", "file"],
      needsPerson: false,
      diagnostics: [
        {
          ...{ severity: "error", code: "token-sink", detail: null, file: "ci.yaml", line: 1, column: 1 },
          summary: "virtual-account/ci answers a one-time token, and no sink is chosen",
        },
      ],
    });
  });

  test("for both reasons, with what allows both", () => {
    const [first, second] = waiting("a", "b").steps;
    if (first === undefined || second === undefined) throw new TypeError("no steps");
    const made = { ...waiting(), steps: [first, { ...second, line: null }] };
    const both = signingRefusal({ plan: made, refusal });
    expect(both).toMatchObject({
      message: "one step would give somebody more rights, and 2 steps need a token sink",
      ...{ flags: ["--allow-privilege", "--sink", "file"], needsPerson: true },
    });
    expect(both?.diagnostics.map(({ code, line, column }) => [code, line, column])).toEqual([
      ["x", null, null],
      ["token-sink", 1, 1],
      ["token-sink", null, null],
    ]);
  });

  test("not for steps that are blocked by anything else", () => {
    const made = waiting("ci");
    const steps = made.steps.flatMap((step) => [
      { ...step, reason: "guard" as const },
      { ...step, action: "create" as const },
    ]);
    expect(signingRefusal({ plan: { ...made, steps }, refusal: null })).toBeNull();
  });
});
