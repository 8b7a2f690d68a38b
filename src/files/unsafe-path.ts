/**
 * A file or folder that is not used, since somebody else may have put it there, may change it, or may read a secret in
 * it. Nothing of it was read or written.
 */
export class UnsafePathError extends Error {
  override readonly name = "UnsafePathError";
  /** The next step, in a sentence. */
  readonly hint: string;

  constructor(message: string, { hint, cause }: { readonly hint: string; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.hint = hint;
  }
}
