import { type FailureCode, HoldfastError } from "../core/errors.ts";

/** Why a source has no usable commit, as shown in status and metrics. */
export type SourceReason =
  | "Unreachable"
  | "Unauthorized"
  | "HostKeyRefused"
  | "CertificateRefused"
  | "Redirected"
  | "RepositoryNotFound"
  | "RefNotFound"
  | "RefAmbiguous"
  | "NotACommit"
  | "EmptyRepository"
  | "TooLarge"
  | "ContentRefused"
  | "FetchFailed"
  | "CheckoutNotReady"
  | "Held"
  | "Waiting"
  | "Halted";

const codes: { readonly [Reason in SourceReason]?: FailureCode } = {
  Unauthorized: "unauthorized",
  HostKeyRefused: "unauthorized",
  Redirected: "refused",
  RefNotFound: "refused",
  RepositoryNotFound: "refused",
  EmptyRepository: "refused",
  CheckoutNotReady: "refused",
  Held: "refused",
  Waiting: "refused",
  Halted: "refused",
};

/** A source has no usable commit now. A daemon keeps its last applied revision and retries. */
export class SourceError extends HoldfastError {
  readonly reason: SourceReason;

  constructor(
    reason: SourceReason,
    message: string,
    { hint, cause }: { readonly hint: string; readonly cause?: unknown },
  ) {
    super(codes[reason] ?? "error", message, { hint, cause });
    this.reason = reason;
  }
}

/** The files of a source were changed while they were read, or have changes that no commit has: a later read may succeed. */
export class UnsettledSourceError extends HoldfastError {}

/** The target is retired, and the pass that found it ends: nothing of it is told or stored. */
export class RetiredError extends Error {
  override readonly name = "RetiredError";
}
