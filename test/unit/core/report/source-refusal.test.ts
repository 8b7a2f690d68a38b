import { expect, test } from "vitest";
import type { Diagnostic } from "../../../../src/core/diagnostic.ts";
import { isSourceRefused, sourceRefusal } from "../../../../src/core/report/source-refusal.ts";

const place = { detail: null, file: null, line: null, column: null };
const error: Diagnostic = { severity: "error", code: "required", summary: "no name", ...place };
const warning: Diagnostic = { ...error, severity: "warning" };

test.each([
  ["nothing", [], []],
  ["a warning", [warning], ["--strict", "--strict --partial"]],
  ["an error", [error], ["", "--strict"]],
  ["both", [warning, error], ["", "--strict", "--strict --partial"]],
] as const)("a source with %s is refused with those flags alone", (_, diagnostics, refused) => {
  const flags = ["", "--partial", "--strict", "--strict --partial"];
  const isRefused = (given: string) =>
    isSourceRefused(diagnostics, { strict: given.includes("--strict"), partial: given.includes("--partial") });
  expect(flags.filter(isRefused)).toEqual(refused);
});

test("the refusal names the way out", () => {
  const strict = {
    message: "--strict treats warnings as errors",
    hint: "correct what the warning names, or leave --strict out",
  };
  expect(sourceRefusal({ diagnostics: [warning] }, {})).toEqual(strict);
  expect(sourceRefusal({ diagnostics: [error, warning] }, { partial: true })).toEqual(strict);
  expect(sourceRefusal({ diagnostics: [error] }, {})).toEqual({
    message: "the source has errors",
    hint: "--partial goes on with the valid manifests",
  });
  expect(sourceRefusal({ diagnostics: [error], hasFaultyPolicies: true }, {})).toEqual({
    message: "the source has errors",
    hint: "correct the policies: nothing goes on without them, also with --partial",
  });
});
