/** A seed that failed: which document, why, and what to do. */
export class SeedError extends Error {
  override readonly name = "SeedError";
  readonly hint: string;

  constructor(message: string, { hint = CORRECT, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}

const CORRECT = "correct it and start again; what was created before it stays";
