import type { Diagnostic } from "../contract/generated/output.ts";
import { compareText } from "../contract/json.ts";

export type { Diagnostic } from "../contract/generated/output.ts";

/** Whether any diagnostic is an error. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === "error");
}

/** The code of the diagnostic about resources that the token may not see. */
export const NOT_VISIBLE = "not-visible";

/** The code of the diagnostic about live state that could not be read since the control plane did not answer. */
export const UNREACHED = "unreached";

/** Whether it says that live could not be read. */
export function isReadFailure({ code }: Diagnostic): boolean {
  return code === "unreadable" || code === UNREACHED;
}

/** Whether it says that live could not be read, or may not be seen. */
export function isUnreadable(one: Diagnostic): boolean {
  return one.severity === "error" && (isReadFailure(one) || one.code === NOT_VISIBLE);
}

/** The diagnostic's summary line, with the number of documents it covers if there are several. */
export function summaryText({
  summary,
  documents,
}: {
  readonly summary: string;
  readonly documents?: number | undefined;
}): string {
  return documents === undefined ? summary : `${summary} (${documents} documents)`;
}

/** Orders by file (in code-unit order), line and column; diagnostics without a file come first. */
export function sortDiagnostics<One extends Diagnostic>(diagnostics: readonly One[]): readonly One[] {
  return diagnostics.toSorted(
    (a, b) =>
      compareText(a.file ?? "", b.file ?? "") ||
      (a.line ?? 0) - (b.line ?? 0) ||
      (a.column ?? 0) - (b.column ?? 0) ||
      compareText(a.code, b.code) ||
      compareText(a.summary, b.summary),
  );
}
