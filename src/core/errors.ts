import type { FailureCode } from "../contract/generated/output.ts";
import type { Diagnostic } from "./diagnostic.ts";

export type { FailureCode } from "../contract/generated/output.ts";

/** Exit code of each failure. 0 is success; 2 means "changes or drift" when requested. */
export const exitCodes: { readonly [code in FailureCode]: number } = {
  error: 1,
  invalid: 3,
  unauthorized: 4,
  refused: 5,
  stale: 6,
  partial: 7,
  locked: 8,
  timeout: 9,
  interrupted: 130,
  terminated: 143,
};

// Most urgent first.
const WORST_FIRST: readonly FailureCode[] = [
  "terminated",
  "interrupted",
  "invalid",
  "unauthorized",
  "locked",
  "stale",
  "refused",
  "timeout",
  "partial",
  "error",
];

/** The most urgent of several exit codes. */
export function worstExitCode(codes: readonly number[]): number {
  return WORST_FIRST.map((code) => exitCodes[code]).find((code) => codes.includes(code)) ?? Math.max(0, ...codes);
}

/** What is said of a failure. */
export type FailureText = {
  readonly code: FailureCode;
  readonly message: string;
  /** The next step, in a sentence. */
  readonly hint: string | null;
  /** The faults of the input that caused the failure. */
  readonly diagnostics: readonly Diagnostic[];
};

/** A failure to report to the user: what happened and what to do now. */
export class HoldfastError extends Error implements FailureText {
  override readonly name = "HoldfastError";
  readonly code: FailureCode;
  /** The next step, in a sentence. */
  readonly hint: string | null;
  /** The faults of the input that caused the failure. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(
    code: FailureCode,
    message: string,
    {
      hint = null,
      diagnostics = [],
      cause,
    }: { hint?: string | null; diagnostics?: readonly Diagnostic[]; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
    this.diagnostics = diagnostics;
  }
}
