/** What an issuer answered, or why it did not, for people; `code` is its own for a refusal. */
export class IssuerError extends Error {
  override readonly name = "IssuerError";
  readonly code: string | null;

  constructor(message: string, { code = null, cause }: { readonly code?: string | null; readonly cause?: unknown }) {
    super(message, { cause });
    this.code = code;
  }
}
