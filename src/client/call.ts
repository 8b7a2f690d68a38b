import type { Buffer } from "node:buffer";
import { IDEMPOTENCY_KEY_ACCEPTED } from "../contract/headers.ts";
import { REPLY_CAP } from "../contract/limits.ts";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import { currentTracer, type Span } from "../contract/trace.ts";
import type { HoldfastError } from "../core/errors.ts";
import type { Answer, Tried } from "./call-outcome.ts";
import { classifyResponse } from "./classify-response.ts";
import { type CallContent, composeRequest } from "./compose-request.ts";
import type { RequestLine, RouteCheck } from "./confirm-missing-route.ts";
import type { BodyParser } from "./decode-body.ts";
import { abortedOf, type Exchange, exchange, type SendRight } from "./exchange.ts";
import type { FirstContact, Given } from "./first-contact.ts";
import { saysRouteIsMissing } from "./missing-route.ts";
import type { ClientLog, Reachability } from "./reachability.ts";
import { isEnvelope } from "./read-envelope.ts";
import { type Pause, startRetryPolicy } from "./retry-policy.ts";
import type { ServerCapabilities } from "./server-capabilities.ts";
import type { ServerClock } from "./server-clock.ts";
import { createServerPause, type ServerPause } from "./server-pause.ts";
import type { WaitNotice } from "./wait-notice.ts";
import { askedToWait, reasonToWait, withAskedWait } from "./wait-reason.ts";

export type { Ambiguity } from "./call-outcome.ts";

/** The answer after all tries that the call allows, and how often the request was sent. */
export type Called = Answer & { readonly attempts: number };

/** How a call is sent, retried and parsed. */
type CallPolicy = {
  /** Whether the request may be sent again although it may have taken effect. */
  readonly repeats: () => boolean;
  /** Whether the request needs a new connection, one that was not used before. */
  readonly fresh: boolean;
  /** Without it no try is sent. */
  readonly right?: SendRight;
  /** Called right before the first byte of each try. */
  readonly onSent?: () => void;
  /** Awaited with the bytes of a success, or the part that arrived, before they are parsed. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
  /** Parses the body of a success instead of the default JSON parser. */
  readonly parse?: BodyParser;
  readonly signal: AbortSignal;
};

/**
 * Makes one call, with every retry that its policy allows. Each failure is an `Answer`, not an exception, except where the
 * renewal of its right rejects.
 */
export type Call = (name: OperationName, content: CallContent, policy: CallPolicy) => Promise<Called>;

/** Called after each request with its duration, and whether the complete reply arrived. */
export type OnRequest = (name: OperationName, milliseconds: number, isAnswered: boolean) => void;

/** The dependencies and limits that all calls to one server share. */
export type ServerLine = RequestLine & {
  readonly capabilities: ServerCapabilities;
  readonly isMissing: RouteCheck;
  readonly serverPause: ServerPause;
  readonly reach: Reachability;
  readonly firstContact: FirstContact;
  readonly serverClock: ServerClock;
  /** The longest wait in milliseconds that the server may request. */
  readonly retryWait: number;
  /** Whether the answer to a request is final, whatever it is. */
  readonly answersAsGiven: boolean;
  readonly waitNotice: () => WaitNotice;
  readonly log?: ClientLog;
  readonly onRequest?: OnRequest;
  /** Ends the waits that the server requested. */
  readonly stopping: AbortSignal;
  /** Ends every call. */
  readonly signal: AbortSignal;
};

/** Creates the function that makes calls to one server. */
export function createCall(shared: ServerLine): Call {
  const keepAlives = keepAliveLine(shared);
  return async (name, content, { signal, ...given }) => {
    const line = operation(name).isKeepAlive === true ? keepAlives : shared;
    const policy: TryPolicy = { ...given, signals: signal === line.signal ? [signal] : [signal, line.signal] };
    const nextPause = startRetryPolicy(line, policy);
    const notice = line.waitNotice();
    let ambiguity: Answer | null = null;
    let attempts = 0;
    try {
      for (let pause: Pause | null = NO_PAUSE; ; ) {
        const held = await waited(line, pause, policy, notice);
        if (held !== null) return { ...finalAnswer(name, held, ambiguity), attempts };
        // The wait that the server requested is over; an outage may continue.
        if (pause.isAsked) notice.waits(null);
        attempts += 1;
        const tried = await sendOnce(line, name, { content, policy });
        const { answer } = tried;
        const stranger = await judgeFirstContact(line, name, { answer, isFinal: false }, policy);
        if (stranger !== null) return { ...aborted(stranger), attempts };
        if (answer.state === "ambiguous") ambiguity = answer;
        pause = abortedOf(policy.signals) !== null ? null : nextPause(tried, attempts);
        if (pause === null) {
          const away = await judgeFirstContact(line, name, { answer, isFinal: true }, policy);
          return { ...(away === null ? finalAnswer(name, answer, ambiguity) : aborted(away)), attempts };
        }
        if (pause.milliseconds > 0) {
          const why = reasonToWait(line.origin, name, tried, pause);
          notice.waits({ why, until: pause.until, isUnreachable: answer.state === "not-sent" });
        }
        line.log?.debug(
          { event: "retry", operation: name, attempt: attempts, pause: pause.milliseconds },
          "trying again",
        );
      }
    } finally {
      notice.ends();
    }
  };
}

function aborted(cause: HoldfastError): Answer {
  return { state: "not-sent", reason: "aborted", cause };
}

/** The error if the first answers show that the server is not a control plane. */
async function judgeFirstContact(
  line: ServerLine,
  name: OperationName,
  given: Given,
  policy: TryPolicy,
): Promise<HoldfastError | null> {
  const { firstContact } = line;
  if (firstContact.isOver() || abortedOf(policy.signals) !== null) return null;
  const cause = await firstContact.misdirected(name, given);
  if (cause !== null || !firstContact.isUndecided(name, given)) return cause;
  const { answer } = await sendOnce(line, DOCUMENTED, {
    content: { query: { limit: 1 } },
    policy: { signals: policy.signals, repeats: () => false, fresh: false },
  });
  return firstContact.misdirected(DOCUMENTED, { answer, isFinal: true });
}

const DOCUMENTED = "listWorkspaces";

// Keep-alives wait for neither the connections nor the pauses of other requests.
function keepAliveLine(line: ServerLine): ServerLine {
  const { keepAlive } = line.dispatchers;
  return {
    ...line,
    dispatchers: { ...line.dispatchers, shared: keepAlive },
    serverPause: createServerPause(line.clock),
  };
}

const NO_PAUSE: Pause = { milliseconds: 0, until: 0, isAsked: true };

/** A policy with each signal that ends the call. Listening to both is faster than `AbortSignal.any`. */
type TryPolicy = Omit<CallPolicy, "signal"> & { readonly signals: readonly AbortSignal[] };

// A later try without effect does not undo an earlier try that may have taken effect.
function finalAnswer(name: OperationName, answer: Answer, ambiguity: Answer | null): Answer {
  const isRead = operation(name).retry === "read";
  return ambiguity === null || isRead || answer.state === "answered" ? answer : ambiguity;
}

/** Waits until the next try may be made; returns the answer of the call if no further try may be made. */
async function waited(
  line: ServerLine,
  { milliseconds, isAsked }: Pause,
  { signals }: TryPolicy,
  notice: WaitNotice,
): Promise<Answer | null> {
  const { clock, serverPause, retryWait, stopping } = line;
  if (milliseconds === 0 && serverPause.closed() === null) return stoppedBy(signals);
  const signal = AbortSignal.any([...signals]);
  // Shutdown does not wait for a pause that the server requested.
  const stoppable = { signal: AbortSignal.any([signal, stopping]) };
  try {
    if (milliseconds > 0) await clock.sleep(milliseconds, isAsked ? stoppable : { signal });
    for (let closed = serverPause.closed(); closed !== null; closed = serverPause.closed()) {
      const rest = closed.until - clock.monotonic();
      if (rest > retryWait) return { state: "refused", refusal: closed.refusal };
      notice.waits({ why: askedToWait(line.origin, closed.refusal, rest), until: closed.until });
      await clock.sleep(Math.ceil(rest), stoppable);
    }
    return stoppedBy(signals);
  } catch {
    return stopped(stoppable.signal);
  }
}

/** The answer of a call that one of the signals has aborted; null if none is aborted. */
function stoppedBy(signals: readonly AbortSignal[]): Answer | null {
  const aborted = abortedOf(signals);
  return aborted === null ? null : stopped(aborted);
}

function stopped({ reason }: AbortSignal): Answer {
  return { state: "not-sent", reason: "aborted", cause: reason };
}

type Sending = { readonly content: CallContent; readonly policy: TryPolicy };

async function sendOnce(line: ServerLine, name: OperationName, { content, policy }: Sending): Promise<Tried> {
  const row = operation(name);
  const token = line.credential.current();
  const started = line.clock.monotonic();
  const { fresh, shared } = line.dispatchers;
  const span = currentTracer()?.start(`${row.method} ${row.path}`, {
    kind: "client",
    attributes: {
      "http.request.method": row.method,
      "url.template": row.path,
      "server.address": new URL(line.origin).hostname,
      "holdfast.operation": name,
    },
  });
  const request = composeRequest(row, content, { ...line, token, traceparent: span?.traceparent });
  const outcome = await exchange(policy.fresh ? fresh : shared, request, {
    clock: line.clock,
    timeout: line.requestTimeout,
    cap: REPLY_CAP,
    reset: policy.fresh,
    signals: policy.signals,
    ...(policy.right === undefined ? {} : { right: policy.right }),
    ...(policy.onSent === undefined ? {} : { onSent: policy.onSent }),
  });
  endSpan(span, outcome);
  line.onRequest?.(name, line.clock.monotonic() - started, outcome.state === "answered");
  if (outcome.state === "answered") {
    line.reach.answered();
    line.serverClock.saw(outcome.headers);
  }
  const date = line.clock.now();
  const classified = await classifyResponse(outcome, {
    name,
    token,
    date,
    ...(policy.onReply === undefined ? {} : { onReply: policy.onReply }),
    ...(policy.parse === undefined ? {} : { parse: policy.parse }),
  });
  const claimsMissingRoute =
    classified.answer.state === "refused" && classified.answer.refusal.reason === "route-missing";
  const tried = claimsMissingRoute
    ? await confirmMissingRoute(line, name, { content, policy }, classified)
    : withAskedWait(classified, { date, retryWait: line.retryWait });
  await learn(line, name, { answer: tried.answer, renew: () => line.credential.renew(token) });
  const milliseconds = Math.round(line.clock.monotonic() - started);
  line.log?.debug(
    { event: "request", operation: name, state: tried.answer.state, milliseconds },
    `${row.method} ${row.path}`,
  );
  return tried;
}

function endSpan(span: Span | undefined, outcome: Exchange): void {
  if (outcome.state !== "answered") {
    span?.end({}, outcome.reason);
    return;
  }
  const { status } = outcome;
  span?.end({ "http.response.status_code": status }, status >= 400 ? String(status) : undefined);
}

// A single answer is proof only if it has the control plane's own form and the route has never answered otherwise.
async function confirmMissingRoute(line: ServerLine, name: OperationName, sent: Sending, tried: Tried): Promise<Tried> {
  const { answer, reply } = tried;
  const { capabilities } = line;
  if (answer.state !== "refused" || reply === undefined) return tried;
  const row = operation(name);
  if (isDocumented(row) || !capabilities.has(name)) return tried;
  const isExplicit = !capabilities.knows(name) && saysRouteIsMissing(reply, row);
  if (isExplicit || (await line.isMissing(name, { content: sent.content, reply }, sent.policy))) return tried;
  const aborted = stoppedBy(sent.policy.signals);
  if (aborted !== null) return { answer: aborted, retryAfter: null };
  const message = "the answer may come from the control plane or from a proxy in between";
  return { ...tried, answer: { state: "refused", refusal: { ...answer.refusal, reason: "route-unclear", message } } };
}

async function learn(
  { capabilities }: ServerLine,
  name: OperationName,
  { answer, renew }: { readonly answer: Answer; readonly renew: () => Promise<void> },
): Promise<void> {
  if (answer.state === "answered") {
    if (isEnvelope(name, answer.value)) capabilities.learn(name, "yes");
    if (operation(name).retry !== "read")
      capabilities.honoursKeys = answer.headers[IDEMPOTENCY_KEY_ACCEPTED] === "true";
  }
  if (answer.state !== "refused") return;
  if (answer.refusal.reason === "route-missing") capabilities.learn(name, "no");
  if (answer.refusal.status === 401) await renew();
}
