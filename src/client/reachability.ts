import type { Clock } from "../clock/clock.ts";
import { faultCode } from "../contract/fault-code.ts";

/** How long calls are retried after a control plane that has answered before becomes unreachable. */
const RETRY_TIMEOUT_MS = 60_000;

/** The part of a logger that the client uses. */
export type ClientLog = {
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
};

/** Whether the server can be reached. Shared by all calls, so that they report an outage only once. */
export type Reachability = {
  /** Records that a connection was opened. */
  readonly opened: () => void;
  readonly answered: () => void;
  /** Records that no connection could be opened; returns the start of the outage. */
  readonly failed: (cause: unknown) => number;
  /** The time until which a call is retried, from the times when it started and first failed. */
  readonly deadline: (callStarted: number, failingSince: number) => number;
};

/** Creates the record of one server. The first contact has `connectTimeout`, a later outage 60 seconds. */
export function createReachability(
  clock: Clock,
  {
    server,
    connectTimeout,
    log,
  }: { readonly server: string; readonly connectTimeout: number; readonly log?: ClientLog },
): Reachability {
  let reached = false;
  let downSince: number | null = null;
  // What the log says. Answers over an old connection do not end it: new ones may still fail, as for a bad certificate.
  let logged: { readonly since: number; readonly isOpen: boolean } | null = null;
  return {
    opened: () => {
      if (logged !== null) logged = { ...logged, isOpen: true };
    },
    answered: () => {
      if (logged?.isOpen) {
        log?.info(
          { event: "server-reachable", server, durationMs: Math.round(clock.monotonic() - logged.since) },
          "the control plane answers again",
        );
        logged = null;
      }
      reached = true;
      downSince = null;
    },
    failed: (cause) => {
      // Connections that this process closed itself say nothing about the server.
      if (logged === null && !isOwnEnd(cause)) {
        log?.warn(
          { event: "server-unreachable", server, cause: causeText(cause) },
          "the control plane cannot be reached",
        );
        logged = { since: clock.monotonic(), isOpen: false };
      }
      downSince ??= clock.monotonic();
      return downSince;
    },
    deadline: (callStarted, failingSince) => (reached ? failingSince + RETRY_TIMEOUT_MS : callStarted + connectTimeout),
  };
}

function isOwnEnd(cause: unknown): boolean {
  return /^UND_ERR_(?:DESTROYED|CLOSED)$/.test(faultCode(cause) ?? "");
}

/** The code of a connection fault, such as `ECONNREFUSED`. Its message is left out, since it may quote a proxy's URL. */
export function causeText(cause: unknown): string {
  const refused = proxyStatus(cause);
  if (refused !== null) return `the proxy answered ${refused}`;
  return faultCode(cause) ?? (cause instanceof Error ? cause.name : "unknown");
}

/** The status with which a proxy refused to forward a request; null for any other fault. */
export function proxyStatus(cause: unknown): number | null {
  const [, status] = (cause instanceof Error && /^Proxy .*\((\d{3})\)/.exec(cause.message)) || [];
  return status === undefined ? null : Number(status);
}

/** Whether a retry cannot help, as for certificate errors and for requests that a proxy refuses. */
export function isLasting(cause: unknown): boolean {
  const status = proxyStatus(cause);
  if (status !== null) return status < 500;
  return LASTING.test(faultCode(cause) ?? "");
}

const LASTING =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|UND_ERR_(?:INVALID_ARG|DESTROYED|CLOSED))/;
