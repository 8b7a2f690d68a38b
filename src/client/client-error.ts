import type { OperationName } from "../contract/operations.ts";
import { type FailureCode, HoldfastError } from "../core/errors.ts";

/** Why a read failed, or a write was refused: a closed set. */
export type FailureReason =
  /** 401: no token, or one that the server does not take. */
  | "unauthorized"
  /** 403: this caller may not. */
  | "forbidden"
  /** 404: the route is there, the resource is not (or not for this caller). */
  | "not-found"
  /** The server does not have this operation at all. */
  | "route-missing"
  /** Something answered as if the server had no such extension, and it may not have been the server. */
  | "route-unclear"
  /** 409. */
  | "conflict"
  /** 412: a newer writer holds the lease. */
  | "fenced"
  /** 429 or 503, and the pauses it asked for did not help, or were longer than anybody waits for. */
  | "throttled"
  /** Any other 4xx: the request is wrong in the server's eyes (422 with details). */
  | "refused"
  /** 5xx, and repeating did not help. */
  | "server-error"
  /** The reply is not what the interface documents. */
  | "protocol"
  /** The reply is larger than any reply may be. */
  | "oversize"
  /** No connection could be made. */
  | "unreachable"
  /** The reply did not come in time. */
  | "timeout"
  /** The connection broke in the middle. */
  | "connection-lost";

/** One fault that the server names; `pointer` is relative to the manifest, or empty. */
export type RefusalDetail = { readonly pointer: string; readonly message: string; readonly code: string | null };

/** A call that failed: what was asked, what came back, and the next step. Its `code` gives the exit code. */
export class ClientError extends HoldfastError {
  readonly reason: FailureReason;
  readonly operation: OperationName;
  readonly status: number | null;
  /** The control plane's own code for a refusal; null where it gave none. */
  readonly serverCode: string | null;
  readonly details: readonly RefusalDetail[];

  constructor(
    reason: FailureReason,
    message: string,
    context: {
      readonly operation: OperationName;
      readonly status?: number | null;
      readonly serverCode?: string | null;
      readonly details?: readonly RefusalDetail[];
      readonly cause?: unknown;
    },
  ) {
    super(codes[reason] ?? "error", message, { hint: hints[reason] ?? null, cause: context.cause });
    this.reason = reason;
    this.operation = context.operation;
    this.status = context.status ?? null;
    this.serverCode = context.serverCode ?? null;
    this.details = context.details ?? [];
  }
}

const codes: { readonly [reason in FailureReason]?: FailureCode } = {
  unauthorized: "unauthorized",
  forbidden: "unauthorized",
};

const hints: { readonly [reason in FailureReason]?: string } = {
  unauthorized: "check the token: --token-file, HOLDFAST_TOKEN_FILE or HOLDFAST_TOKEN",
  forbidden: "give this token's account a role that allows it",
  "route-missing": "check that --server is the control plane's base address",
  "route-unclear": "look at what stands between here and the control plane, and run it again",
  throttled: "lower --concurrency, try again later, or wait for longer with --retry-wait",
  protocol: "check that --server is a control plane and that nothing in between answers for it",
  unreachable: "check --server, the network, HTTPS_PROXY / NO_PROXY and --ca-file",
  timeout: "raise --request-timeout, or look at the control plane's load",
};
