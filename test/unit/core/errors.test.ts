import { expect, test } from "vitest";
import { exitCodes, worstExitCode } from "../../../src/core/errors.ts";

test("what needs a person most stands for several exit codes, and changes for none that failed", () => {
  expect(worstExitCode([0, 2, exitCodes.error, exitCodes.invalid, exitCodes.timeout])).toBe(exitCodes.invalid);
  expect(worstExitCode([exitCodes.invalid, exitCodes.interrupted])).toBe(exitCodes.interrupted);
  expect(worstExitCode([0, 2, 0])).toBe(2);
  expect(worstExitCode([])).toBe(0);
});
