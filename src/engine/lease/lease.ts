import { setTimeout as wait } from "node:timers/promises";
import { causeText } from "../../client/reachability.ts";
import type { Refusal } from "../../client/refusal.ts";
import type { Sent, Writer } from "../../client/writer.ts";
import { HoldfastError } from "../../core/errors.ts";

// Short enough to replace a dead holder soon; long enough for three renewals beyond the longest request.
const MAX_SLACK_MS = 15_000;
const MIN_SLACK_MS = 2000;
// Releasing is optional: an unreachable control plane must not delay the exit.
const LEAVING_MS = 2000;

/** An exclusive right to write in a scope, until released. */
export type HeldLease = AsyncDisposable & {
  readonly scope: string;
  /** Grows with every holder: a later one has a higher number. */
  readonly number: () => number;
  /** Whether it may have expired: nothing more is sent under it. */
  readonly isLost: () => boolean;
  /** Sends under the lease's number, and only while no other holder can have written. */
  readonly writer: Writer;
  /** The same for another connection with the same control plane. */
  readonly fenced: (writer: Writer) => Writer;
};

/** What a lease is taken with. */
export type LeaseOptions = {
  readonly writer: Writer;
  readonly scope: string;
  /** The holder's name; the same holder gets its lease back at once. */
  readonly holder: string;
  /** The longest that one request takes: none is sent that could outlive the lease, unless `mostMs` makes it shorter. */
  readonly requestTimeoutMs: number;
  /** The longest life without renewal. The number keeps out what arrives after it. @default as long as a request needs */
  readonly mostMs?: number;
  readonly signal: AbortSignal;
  /** A clock that only goes forward, in milliseconds. @default performance.now */
  readonly clock?: () => number;
};

/** What came of asking for a lease. */
export type LeaseResult =
  | { readonly state: "held"; readonly lease: HeldLease }
  | { readonly state: "busy"; readonly message: string }
  /** There are no leases here, or not for this caller. */
  | { readonly state: "none"; readonly why: string };

/** Asks once for a lease. */
export async function acquireLease(options: LeaseOptions): Promise<LeaseResult> {
  const { scope, clock = () => performance.now() } = options;
  const asked = clock();
  const sent = await ask(options, { signal: options.signal });
  switch (sent.state) {
    case "applied": {
      const number = numberIn(sent.data);
      if (number === null) return { state: "none", why: "the reply tells of no fencing number" };
      return {
        state: "held",
        lease: new RenewingLease({ ...options, clock }, { number, until: asked + lifeOf(options) }),
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

// An unclear or temporary answer does not mean that there are no leases: going on without one could
// mean two writers.
function isFinal({ status, reason, message }: Extract<Sent, { readonly state: "refused" }>): boolean {
  return reason !== "route-unclear" && status !== 401 && status !== 429 && status < 500 && message !== "";
}

function numberIn({ fencingToken }: { readonly fencingToken?: unknown }): number | null {
  return Number.isSafeInteger(fencingToken) ? Number(fencingToken) : null;
}

// It has leases of another form: without one, other writers would not be excluded.
function notGranted(options: LeaseOptions, { message, details }: Pick<Refusal, "message" | "details">): HoldfastError {
  const life = `a lease of ${lifeOf(options) / 1000} s on ${options.scope}`;
  const isTooLong = details.some(({ pointer }) => pointer === "/ttlSeconds");
  const tooLong =
    options.mostMs === undefined ? "it has to outlive a request: lower --request-timeout" : "lower --lease-seconds";
  const hint = isTooLong ? tooLong : "look at --lease-scope, and at the name of the state folder";
  return new HoldfastError("invalid", `the control plane refuses ${life}: ${message}`, { hint });
}

function notTaken({ scope }: LeaseOptions, sent: Exclude<Sent, { readonly state: "applied" }>): HoldfastError {
  const isRefusal = sent.state === "refused";
  const code = isRefusal && sent.reason === "unauthorized" ? "unauthorized" : "error";
  const why = isRefusal ? `answered ${sent.status}${sent.message && `: ${sent.message}`}` : whyText(sent);
  return new HoldfastError(code, `nothing was written: the lease on ${scope} could not be taken: ${why}`, {
    hint: "look at what stands between here and the control plane, and run it again",
    cause: isRefusal ? undefined : sent.cause,
  });
}

function whyText(sent: Extract<Sent, { readonly state: "ambiguous" | "not-sent" }>): string {
  const isTold = sent.state === "ambiguous" && sent.reason !== "connection-lost" && sent.cause instanceof Error;
  return isTold ? sent.cause.message : causeText(sent.cause);
}

/**
 * Acquires a lease, waiting for the lease of a dead holder to expire: a holder that renews is alive and
 * is not waited for.
 */
export async function waitForLease(
  options: LeaseOptions,
  { onWait, stopping }: { readonly onWait: (message: string) => void; readonly stopping: AbortSignal },
): Promise<LeaseResult & { readonly waited: boolean }> {
  const first = await acquireLease(options);
  if (first.state !== "busy") return { ...first, waited: false };
  onWait(first.message);
  const { clock = () => performance.now() } = options;
  const deadline = clock() + lifeOf(options) + slackOf(options);
  for (;;) {
    await wait(slackOf(options) / 5, undefined, { signal: stopping });
    const taken = await acquireLease(options);
    if (taken.state !== "busy") return { ...taken, waited: true };
    if (taken.message === first.message && clock() < deadline) continue;
    throw new HoldfastError("locked", taken.message, {
      hint: "wait until it ends, or stop it; sources that have nothing in common may each have a --lease-scope",
    });
  }
}

/** How often a standby asks again, in milliseconds. */
export function standByMs(options: LeaseLength): number {
  return slackOf(options) / 5;
}

type Numbered = { readonly number: number; readonly until: number };

class RenewingLease implements HeldLease {
  readonly scope: string;
  readonly writer: Writer;
  readonly #options: LeaseOptions & { readonly clock: () => number };
  readonly #ended = new AbortController();
  readonly #cut = new AbortController();
  readonly #renewals: Promise<void>;
  #number: number;
  #until: number;
  #isLost = false;
  #renewing: Promise<void> | null = null;

  constructor(options: LeaseOptions & { readonly clock: () => number }, { number, until }: Numbered) {
    this.#options = options;
    this.scope = options.scope;
    this.#number = number;
    this.#until = until;
    this.writer = this.fenced(options.writer);
    this.#renewals = this.#renewPeriodically();
  }

  readonly number = (): number => this.#number;

  readonly isLost = (): boolean => this.#isLost;

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    const leaving = AbortSignal.timeout(LEAVING_MS);
    leaving.addEventListener("abort", () => this.#cut.abort(), { once: true });
    // A renewal that arrived after the release would take the lease again.
    await this.#renewals;
    if (this.#isLost || this.#options.signal.aborted) return;
    // The next holder would have to wait for it to expire.
    await ask(this.#options, { signal: leaving, release: true });
  }

  fenced(writer: Writer): Writer {
    const { scope } = this.#options;
    return {
      send: async (name, content, stop) => {
        if (!(await this.#isReady())) return lost(scope);
        const sent = await writer.send(name, { ...content, fence: { token: this.#number, scope } }, stop);
        if (sent.state === "refused" && sent.status === 412) this.#isLost = true;
        return sent;
      },
    };
  }

  // A process that slept longer than its lease asks before it goes on.
  async #isReady(): Promise<boolean> {
    if (!this.#isLost && !this.#isSafe()) await this.#renew();
    return !this.#isLost && this.#isSafe();
  }

  #isSafe(): boolean {
    return this.#options.clock() + marginOf(this.#options) < this.#until;
  }

  async #renewPeriodically(): Promise<void> {
    const signal = AbortSignal.any([this.#ended.signal, this.#options.signal]);
    while (!signal.aborted && !this.#isLost) {
      await wait(slackOf(this.#options) / 3, undefined, { signal, ref: false }).catch((error: unknown) => {
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
    const asked = this.#options.clock();
    const signal = AbortSignal.any([this.#cut.signal, AbortSignal.timeout(slackOf(this.#options))]);
    const sent = await ask(this.#options, { signal });
    if (sent.state === "refused" && sent.status === 409) this.#isLost = true;
    if (sent.state !== "applied") return;
    // The very next number after ours: it ran out, and nobody had it in between.
    const number = numberIn(sent.data);
    if (number === null) return;
    if (number > this.#number + 1) this.#isLost = true;
    this.#number = number;
    this.#until = asked + lifeOf(this.#options);
  }
}

function ask(
  options: LeaseOptions,
  { signal, release = false }: { readonly signal: AbortSignal; readonly release?: boolean },
): Promise<Sent<"putLease">> {
  const { writer, scope, holder } = options;
  const ttlSeconds = Math.ceil(lifeOf(options) / 1000);
  const body = { holder, ttlSeconds, ...(release ? { release } : {}) };
  return writer.send("putLease", { path: { scope }, body }, { signal });
}

function lost(scope: string) {
  const message = `nothing was sent: the lease on ${scope} was lost to another holder, or could not be renewed in time`;
  const refusal = { reason: "fenced", status: 412, code: "lease-lost", message, details: [] } as const;
  return { state: "refused", ...refusal, attempts: 0 } as const;
}

type LeaseLength = Pick<LeaseOptions, "requestTimeoutMs" | "mostMs">;

function slackOf({ requestTimeoutMs, mostMs = Number.POSITIVE_INFINITY }: LeaseLength): number {
  const slack = Math.min(MAX_SLACK_MS, Math.max(MIN_SLACK_MS, requestTimeoutMs / 2));
  return Math.min(slack, mostMs / 2);
}

function lifeOf(options: LeaseLength): number {
  const { requestTimeoutMs, mostMs = Number.POSITIVE_INFINITY } = options;
  return Math.ceil(Math.min(requestTimeoutMs + slackOf(options), mostMs) / 1000) * 1000;
}

// How long before its end nothing is sent any more.
function marginOf(options: LeaseLength): number {
  const isShort = options.mostMs !== undefined && lifeOf(options) < options.requestTimeoutMs + slackOf(options);
  return isShort ? lifeOf(options) / 4 : options.requestTimeoutMs;
}
