// src/engine/lease: the right to write. See docs/architecture.md#leases.

import type { SendRight } from "../../client/exchange.ts";
import { causeText } from "../../client/reachability.ts";
import type { Refusal } from "../../client/refusal.ts";
import type { Sent, Writer } from "../../client/writer.ts";
import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";

// Short enough to replace a dead holder soon, long enough for three renewals beyond the longest request.
const MAX_SLACK_MS = 15_000;
const MIN_SLACK_MS = 2000;
// Releasing is optional: an unreachable control plane must not delay the exit.
const RELEASE_TIMEOUT_MS = 2000;

/** An exclusive right to write in a scope, until released. */
export type HeldLease = AsyncDisposable & {
  readonly scope: string;
  /** The fencing token, which grows with every holder. */
  readonly fencingToken: () => number;
  /** Whether it may have expired; no further request is sent under it. */
  readonly isLost: () => boolean;
  /** Sends with the fencing token, and only while no other holder can have written. */
  readonly writer: Writer;
  /** The same for another connection to the same control plane. */
  readonly fenced: (writer: Writer) => Writer;
};

/** The options for acquiring a lease. */
export type LeaseOptions = {
  readonly writer: Writer;
  readonly scope: string;
  /** The holder's name; the same holder gets its lease back immediately. */
  readonly holder: string;
  /** The holder that can no longer write with this state, but may still have the lease; null if there is none. @default null */
  readonly former?: string | null;
  /** The timeout of one request. No request may outlive the lease, unless `maxMs` makes the lease shorter. */
  readonly requestTimeoutMs: number;
  /** The maximum duration without renewal; the fencing token rejects later requests. @default as long as a request needs */
  readonly maxMs?: number;
  readonly signal: AbortSignal;
  /** Called once, when another holder is found to have taken it. */
  readonly onLost?: (message: string) => void;
  readonly clock: Clock;
};

/** The result of requesting a lease. */
export type LeaseResult =
  | { readonly state: "held"; readonly lease: HeldLease }
  | { readonly state: "busy"; readonly message: string }
  /** The control plane has no leases, or none for this caller. */
  | { readonly state: "none"; readonly why: string };

/** Requests a lease once, and once more after it has ended that of the former holder. */
export async function acquireLease(options: LeaseOptions): Promise<LeaseResult> {
  const { former = null, signal } = options;
  const result = await requestLease(options);
  if (result.state !== "busy" || former === null) return result;
  // What it still sends is then rejected: the next lease has a newer fencing token.
  await putLease({ ...options, holder: former }, { signal, release: true });
  return requestLease(options);
}

async function requestLease(options: LeaseOptions): Promise<LeaseResult> {
  const { scope, clock } = options;
  const requestedAt = clock.monotonic();
  const sent = await putLease(options, { signal: options.signal });
  switch (sent.state) {
    case "applied": {
      const token = fencingTokenIn(sent.data);
      if (token === null) return { state: "none", why: "the reply has no fencing token" };
      return {
        state: "held",
        lease: new RenewingLease(options, { token, until: requestedAt + durationOf(options) }),
      };
    }
    case "refused":
      if (sent.status === 409) return { state: "busy", message: sent.message || `another holder has ${scope}` };
      if (sent.reason === "route-missing") return { state: "none", why: "this control plane has no leases" };
      if (!isFinal(sent)) throw notTaken(options, sent);
      if (sent.status === 400) throw notGranted(options, sent);
      return { state: "none", why: sent.message };
    default:
      throw notTaken(options, sent);
  }
}

// An unclear or temporary reply does not mean that the control plane has no leases: continuing without
// one could mean two writers.
function isFinal({ status, reason, message }: Extract<Sent, { readonly state: "refused" }>): boolean {
  return reason !== "route-unclear" && status !== 401 && status !== 429 && status < 500 && message !== "";
}

function fencingTokenIn({ fencingToken }: { readonly fencingToken?: unknown }): number | null {
  return Number.isSafeInteger(fencingToken) ? Number(fencingToken) : null;
}

// The control plane has leases, but rejects this form: without one, other writers would not be excluded.
function notGranted(options: LeaseOptions, { message, details }: Refusal): HoldfastError {
  const lease = `a lease of ${durationOf(options) / 1000} s on ${options.scope}`;
  const isTooLong = details.some(({ pointer }) => pointer === "/ttlSeconds");
  const tooLong =
    options.maxMs === undefined ? "it must outlive a request: lower --request-timeout" : "lower --lease-seconds";
  const hint = isTooLong ? tooLong : "check --lease-scope and the name of the state folder";
  return new HoldfastError("invalid", `the control plane refuses ${lease}: ${message}`, { hint });
}

function notTaken({ scope }: LeaseOptions, sent: Exclude<Sent, { readonly state: "applied" }>): HoldfastError {
  const isRefusal = sent.state === "refused";
  const code = isRefusal && sent.reason === "unauthorized" ? "unauthorized" : "error";
  const why = failureText(sent);
  return new HoldfastError(code, `nothing was written: the lease on ${scope} could not be taken: ${why}`, {
    hint: "check the connection to the control plane, and run the command again",
    cause: isRefusal ? undefined : sent.cause,
  });
}

function failureText(sent: Exclude<Sent, { readonly state: "applied" }>): string {
  if (sent.state !== "refused") return whyText(sent);
  return `answered ${sent.status}${sent.message && `: ${sent.message}`}`;
}

function whyText(sent: Extract<Sent, { readonly state: "ambiguous" | "not-sent" }>): string {
  const isExplained = sent.state === "ambiguous" && sent.reason !== "connection-lost" && sent.cause instanceof Error;
  return isExplained ? sent.cause.message : causeText(sent.cause);
}

/**
 * Acquires a lease, and waits for the lease of a dead holder to expire. Fails as locked when the holder
 * renews its lease, since then it is alive.
 */
export async function waitForLease(
  options: LeaseOptions,
  { onWait, stopping }: { readonly onWait: (message: string) => void; readonly stopping: AbortSignal },
): Promise<LeaseResult & { readonly waited: boolean }> {
  const first = await acquireLease(options);
  if (first.state !== "busy") return { ...first, waited: false };
  onWait(first.message);
  const { clock } = options;
  const deadline = clock.monotonic() + durationOf(options) + slackOf(options);
  for (;;) {
    await clock.sleep(slackOf(options) / 5, { signal: stopping });
    const taken = await acquireLease(options);
    if (taken.state !== "busy") return { ...taken, waited: true };
    if (taken.message === first.message && clock.monotonic() < deadline) continue;
    throw new HoldfastError("locked", taken.message, {
      hint: "wait until it ends, or stop it; sources without common resources may each have a --lease-scope",
    });
  }
}

/** How often a standby requests the lease, in milliseconds. */
export function standByMs(options: LeaseOptions): number {
  return slackOf(options) / 5;
}

class StaleTokenError extends Error {
  override readonly name = "StaleTokenError";
}

type Grant = { readonly token: number; readonly until: number };

class RenewingLease implements HeldLease {
  readonly scope: string;
  readonly writer: Writer;
  readonly #options: LeaseOptions;
  readonly #ended = new AbortController();
  readonly #cut = new AbortController();
  readonly #renewals: Promise<void>;
  #token: number;
  #until: number;
  #isTaken = false;
  #failure: string | null = null;
  #renewing: Promise<void> | null = null;

  constructor(options: LeaseOptions, { token, until }: Grant) {
    this.#options = options;
    this.scope = options.scope;
    this.#token = token;
    this.#until = until;
    this.writer = this.fenced(options.writer);
    this.#renewals = this.#renewPeriodically();
  }

  readonly fencingToken = (): number => this.#token;

  readonly isLost = (): boolean => this.#isTaken;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    const releasing = this.#options.clock.timeout(RELEASE_TIMEOUT_MS);
    releasing.addEventListener("abort", () => this.#cut.abort(), { once: true });
    // A renewal that arrives after the release would take the lease again.
    await this.#renewals;
    if (this.isLost() || this.#options.signal.aborted) return;
    // Without a release the next holder would wait for the lease to expire.
    await putLease(this.#options, { signal: releasing, release: true });
  }

  fenced(writer: Writer): Writer {
    const { scope } = this.#options;
    return {
      send: async (name, content, stop) => {
        for (;;) {
          if (!(await this.#isReady())) return this.#lost();
          const token = this.#token;
          const right = this.#right(token, content.right);
          const sent = await writer.send(name, { ...content, right, fence: { token, scope } }, stop);
          if (sent.state === "refused" && sent.status === 412) this.#lose();
          // While the request waited for its turn, the lease was lost, or got a newer token.
          if (sent.state !== "not-sent" || !(sent.cause instanceof StaleTokenError)) return sent;
        }
      },
    };
  }

  #right(token: number, own: SendRight | undefined): SendRight {
    return {
      isValid: () => !this.isLost() && this.#token === token && this.#isSafe() && own?.isValid() !== false,
      renew: async () => {
        if (!(await this.#isReady()) || this.#token !== token) return new StaleTokenError();
        return own === undefined || own.isValid() ? null : own.renew();
      },
    };
  }

  #lost(): ReturnType<typeof lost> {
    return lost(this.scope, this.#isTaken ? TAKEN : this.#lateness());
  }

  #lose(): void {
    if (this.isLost()) return;
    this.#isTaken = true;
    this.#options.onLost?.(`the lease on ${this.scope} ${TAKEN}`);
  }

  // A process that was suspended longer than its lease renews it before it sends.
  async #isReady(): Promise<boolean> {
    if (!this.isLost() && !this.#isSafe()) await this.#renew();
    return !this.isLost() && this.#isSafe();
  }

  #isSafe(): boolean {
    return this.#options.clock.monotonic() + marginOf(this.#options) < this.#until;
  }

  #lateness(): LossReason {
    return this.#failure === null ? LATE : `${LATE}: ${this.#failure}`;
  }

  async #renewPeriodically(): Promise<void> {
    const signal = AbortSignal.any([this.#ended.signal, this.#options.signal]);
    while (!signal.aborted && !this.isLost()) {
      const resting = this.#options.clock.sleep(slackOf(this.#options) / 3, { signal, ref: false });
      await resting.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (!signal.aborted) await this.#renew();
    }
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    const requestedAt = this.#options.clock.monotonic();
    const signal = AbortSignal.any([this.#cut.signal, this.#options.clock.timeout(slackOf(this.#options))]);
    const sent = await putLease(this.#options, { signal });
    if (sent.state === "refused" && sent.status === 409) this.#lose();
    this.#failure = sent.state === "applied" ? null : failureText(sent);
    if (sent.state !== "applied") return;
    // A token one above ours means that our lease expired and no other holder had it since.
    const token = fencingTokenIn(sent.data);
    if (token === null) return;
    if (token > this.#token + 1) this.#lose();
    this.#token = token;
    this.#until = requestedAt + durationOf(this.#options);
  }
}

function putLease(
  options: LeaseOptions,
  { signal, release = false }: { readonly signal: AbortSignal; readonly release?: boolean },
): Promise<Sent<"putLease">> {
  const { writer, scope, holder } = options;
  const ttlSeconds = Math.ceil(durationOf(options) / 1000);
  const body = { holder, ttlSeconds, ...(release ? { release } : {}) };
  return writer.send("putLease", { path: { scope }, body }, { signal });
}

const TAKEN = "was taken by another holder";
const LATE = "could not be renewed in time";

/** Why a lease is lost; when it is late, with the failure of the last renewal. */
type LossReason = typeof TAKEN | `${typeof LATE}${string}`;

function lost(scope: string, why: LossReason) {
  const message = `nothing was sent: the lease on ${scope} ${why}`;
  const refusal = { reason: "fenced", status: 412, code: "lease-lost", message, details: [] } as const;
  return { state: "refused", ...refusal, attempts: 0 } as const;
}

function slackOf({ requestTimeoutMs, maxMs = Number.POSITIVE_INFINITY }: LeaseOptions): number {
  const slack = Math.min(MAX_SLACK_MS, Math.max(MIN_SLACK_MS, requestTimeoutMs / 2));
  return Math.min(slack, maxMs / 2);
}

function durationOf(options: LeaseOptions): number {
  const { requestTimeoutMs, maxMs = Number.POSITIVE_INFINITY } = options;
  return Math.ceil(Math.min(requestTimeoutMs + slackOf(options), maxMs) / 1000) * 1000;
}

// How long before its expiry a lease stops being used.
function marginOf(options: LeaseOptions): number {
  const isShort = options.maxMs !== undefined && durationOf(options) < options.requestTimeoutMs + slackOf(options);
  return isShort ? durationOf(options) / 4 : options.requestTimeoutMs;
}
