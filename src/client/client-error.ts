import type { OperationName } from "../contract/operations.ts";
import { type FailureCode, HoldfastError } from "../core/errors.ts";

/** Why a read failed, or a write was refused: a closed set. */
export type FailureReason =
  /** 401: the token is missing or not accepted. */
  | "unauthorized"
  /** 403: the caller lacks the permission. */
  | "forbidden"
  /** 404: the route exists; the resource does not exist, or the caller may not see it. */
  | "not-found"
  /** The server does not have this operation. */
  | "route-missing"
  /** An answer says that the extension is missing, and it may come from a proxy instead of the server. */
  | "route-unclear"
  /** 409. */
  | "conflict"
  /** 412: a newer writer holds the lease. */
  | "fenced"
  /** 429 or 503: waiting did not help, or the server requested a longer wait than `--retry-wait`. */
  | "throttled"
  /** Any other 4xx: the server considers the request invalid (422 with details). */
  | "refused"
  /** 5xx, and retries did not help. */
  | "server-error"
  /** The reply is not what the interface documents. */
  | "protocol"
  /** The reply exceeds the size limit. */
  | "oversize"
  /** No connection could be opened. */
  | "unreachable"
  /** The complete reply did not arrive in time. */
  | "timeout"
  /** The connection broke before the complete reply arrived. */
  | "connection-lost";

/** One fault that the server reports; `pointer` is relative to the manifest, or empty. */
export type RefusalDetail = { readonly pointer: string; readonly message: string; readonly code: string | null };

/** A failed call: the operation, the server's answer and the next step. Its `code` determines the exit code. */
export class ClientError extends HoldfastError {
  readonly reason: FailureReason;
  readonly operation: OperationName;
  readonly status: number | null;
  /** The control plane's own code for a refusal; null if it gave none. */
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

const OUT_OF_REACH: readonly FailureReason[] = ["unreachable", "timeout", "connection-lost"];

/** Whether a call failed since the control plane did not answer; another process may reach it. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof ClientError && OUT_OF_REACH.includes(error.reason);
}

const codes: { readonly [reason in FailureReason]?: FailureCode } = {
  unauthorized: "unauthorized",
  forbidden: "unauthorized",
};

const hints: { readonly [reason in FailureReason]?: string } = {
  unauthorized: "check the token: --token-file, HOLDFAST_TOKEN_FILE or HOLDFAST_TOKEN; or sign in with holdfast login",
  forbidden: "give this token's account a role that allows it",
  "route-missing": "check that --server is the control plane's base address",
  "route-unclear": "check the proxies between here and the control plane, and run it again",
  throttled: "lower --concurrency, try again later, or wait for longer with --retry-wait",
  protocol: "check that --server is a control plane and that nothing in between answers for it",
  unreachable: "check --server, the network, HTTPS_PROXY / NO_PROXY and --ca-file",
  timeout: "raise --request-timeout, or check the control plane's load",
};
