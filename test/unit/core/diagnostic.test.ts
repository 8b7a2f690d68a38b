import { describe, expect, test } from "vitest";
import {
  type Diagnostic,
  hasErrors,
  isReadFailure,
  isUnreadable,
  sortDiagnostics,
  summaryText,
} from "../../../src/core/diagnostic.ts";
import { type SourceDiagnostic, summariseOtherDocuments } from "../../../src/core/other-documents.ts";
import { isRunWarning, runWarning, strictRefusal, withWarnings } from "../../../src/core/run-warning.ts";

const diagnostic = (fields: Partial<Diagnostic> = {}): Diagnostic => {
  return { severity: "error", code: "x", summary: "s", detail: null, file: null, line: null, column: null, ...fields };
};

describe("diagnostics", () => {
  test("are ordered by file, place, code and text", () => {
    const ordered = [
      diagnostic({ summary: "no file" }),
      diagnostic({ file: "a.yaml" }),
      diagnostic({ file: "a.yaml", line: 2, column: 1 }),
      diagnostic({ file: "a.yaml", line: 2, column: 3, code: "a", summary: "z" }),
      diagnostic({ file: "a.yaml", line: 2, column: 3, code: "b", summary: "y" }),
      diagnostic({ file: "a.yaml", line: 2, column: 3, code: "b", summary: "z" }),
      diagnostic({ file: "a.yaml", line: 10, column: 1 }),
      diagnostic({ file: "b.yaml", line: 1, column: 1 }),
    ];
    expect(sortDiagnostics(ordered.toReversed())).toEqual(ordered);
  });

  test.each<[Partial<Diagnostic>, boolean, boolean]>([
    [{ code: "unreadable" }, true, true],
    [{ code: "unreached" }, true, true],
    [{ code: "not-visible" }, false, true],
    [{ code: "other" }, false, false],
    [{ code: "unreadable", severity: "warning" }, true, false],
    [{ code: "not-visible", severity: "warning" }, false, false],
  ])("%j say that live could not be read: %s, or not be seen: %s", (fields, failed, unreadable) => {
    expect([isReadFailure(diagnostic(fields)), isUnreadable(diagnostic(fields))]).toEqual([failed, unreadable]);
  });

  test("have errors, and count the documents that they cover", () => {
    expect([hasErrors([diagnostic({ severity: "warning" }), diagnostic()]), hasErrors([])]).toEqual([true, false]);
    expect(hasErrors([diagnostic({ severity: "warning" })])).toBe(false);
    expect([summaryText({ summary: "s" }), summaryText({ summary: "s", documents: 3 })]).toEqual([
      "s",
      "s (3 documents)",
    ]);
  });

  test("about a run are told once, and stop a strict one", () => {
    const [one, other] = [runWarning("frozen", "s"), runWarning("no-lease", "t", "d")];
    expect(one).toEqual(diagnostic({ severity: "warning", code: "frozen" }));
    expect(other.detail).toBe("d");
    expect(withWarnings([one], [other, one])).toEqual([one, other]);
    expect([isRunWarning("frozen"), isRunWarning("schema")]).toEqual([true, false]);
    expect(strictRefusal([one])).toMatchObject({
      ...{ code: "invalid", message: "--strict treats warnings as errors", diagnostics: [one] },
      hint: "nothing was written: correct what the warning names, or leave --strict out",
    });
  });

  test("about documents of others are summed by type", () => {
    const found: readonly SourceDiagnostic[] = [
      { ...diagnostic({ file: "a.yaml" }), otherDocuments: { type: "Pod", documents: 2 } },
      { ...diagnostic({ file: "b.yaml" }), otherDocuments: { type: "Pod", documents: 3, hasOurType: true } },
      { ...diagnostic({ file: null }), otherDocuments: { type: null, documents: 1, hasOurType: true } },
      diagnostic({ file: "c.yaml" }),
    ];
    expect(summariseOtherDocuments(found)).toEqual({
      ...{ documents: 6, types: new Map([["Pod", 5]]), filesOfOurTypes: ["b.yaml"] },
      diagnostics: ["a.yaml", "b.yaml", null, "c.yaml"].map((file) => diagnostic({ file })),
    });
  });
});
