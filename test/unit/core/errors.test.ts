import { expect, test } from "vitest";
import { exitCodes, HoldfastError, worstExitCode } from "../../../src/core/errors.ts";

test("what needs a person most stands for several exit codes, and changes for none that failed", () => {
  expect(worstExitCode([0, 2, exitCodes.error, exitCodes.invalid, exitCodes.timeout])).toBe(exitCodes.invalid);
  expect(worstExitCode([exitCodes.invalid, exitCodes.interrupted])).toBe(exitCodes.interrupted);
  expect(worstExitCode([0, 2, 0])).toBe(2);
  expect(worstExitCode([])).toBe(0);
});

test("a failure has its code, and what else is said of it", () => {
  const plain = new HoldfastError("stale", "the plan is too old");
  expect({ ...plain, message: plain.message }).toEqual({
    ...{ name: "HoldfastError", code: "stale", message: "the plan is too old", hint: null, diagnostics: [] },
  });
  expect("cause" in plain).toBe(false);
  const cause = new Error("closed");
  const full = new HoldfastError("error", "no answer", { hint: "ask again", cause });
  expect([full.hint, full.cause]).toEqual(["ask again", cause]);
});
