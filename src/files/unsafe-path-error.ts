/**
 * A file or folder that another user may have created, can change, or can read a secret from. Nothing was read from it
 * or written to it.
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
