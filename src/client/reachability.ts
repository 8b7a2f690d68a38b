import type { Clock } from "./clock.ts";

/** How long calls are tried again after a control plane that was reached has stopped answering. */
const RETRY_TIMEOUT_MS = 60_000;

/** The part of a logger that the client uses. */
export type ClientLog = {
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
};

/** Whether the server can be reached; shared by all calls, so that they wait for an outage together and report it once. */
export type Reachability = {
  readonly answered: () => void;
  /** No connection could be made; gives the moment since when. */
  readonly failed: (cause: unknown) => number;
  /** Until when a call is worth repeating that started and first failed at these moments. */
  readonly deadline: (callStarted: number, failingSince: number) => number;
};

/** Knows no answer yet: the first contact gets `connectTimeout`, a fault later on 60 seconds. */
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
  return {
    answered: () => {
      if (downSince !== null) log?.info({ server }, "the control plane answers");
      reached = true;
      downSince = null;
    },
    failed: (cause) => {
      // What we broke off ourselves says nothing of the server.
      if (downSince === null && !isOwnEnd(cause))
        log?.warn({ server, cause: causeText(cause) }, "the control plane cannot be reached");
      downSince ??= clock.now();
      return downSince;
    },
    deadline: (callStarted, failingSince) => (reached ? failingSince + RETRY_TIMEOUT_MS : callStarted + connectTimeout),
  };
}

function isOwnEnd(cause: unknown): boolean {
  return /^UND_ERR_(?:DESTROYED|CLOSED)$/.test(faultCode(cause) ?? "");
}

/** The code of a connection fault, such as `ECONNREFUSED`; nothing of its text, which may quote a proxy's URL. */
export function causeText(cause: unknown): string {
  const refused = proxyStatus(cause);
  if (refused !== null) return `the proxy answered ${refused}`;
  return faultCode(cause) ?? (cause instanceof Error ? cause.name : "unknown");
}

/** Status with which a proxy refused to pass a request on; null when it was not that. */
export function proxyStatus(cause: unknown): number | null {
  const [, status] = (cause instanceof Error && /^Proxy .*\((\d{3})\)/.exec(cause.message)) || [];
  return status === undefined ? null : Number(status);
}

/** The `code` of a connection fault, also of the first of several addresses that were tried. */
export function faultCode(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined;
  if ("code" in cause && typeof cause.code === "string") return cause.code;
  if (cause instanceof AggregateError) return faultCode(cause.errors[0]);
  return faultCode(cause.cause);
}

/** Whether trying again cannot help: certificates and proxies do not change by waiting. */
export function isLasting(cause: unknown): boolean {
  const status = proxyStatus(cause);
  if (status !== null) return status < 500;
  return LASTING.test(faultCode(cause) ?? "");
}

const LASTING =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH|UND_ERR_(?:INVALID_ARG|DESTROYED|CLOSED))/;
