import type { Buffer } from "node:buffer";
import { CALLER, IDEMPOTENCY_KEY_ACCEPTED } from "../contract/headers.ts";
import { REPLY_CAP } from "../contract/limits.ts";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import type { Answer, Tried } from "./call-outcome.ts";
import { classifyResponse } from "./classify-response.ts";
import type { Clock } from "./clock.ts";
import { type CallContent, composeRequest } from "./compose-request.ts";
import type { RouteCheck } from "./confirm-missing-route.ts";
import type { Credential } from "./credential.ts";
import type { BodyParser } from "./decode-body.ts";
import type { Dispatchers } from "./dispatcher.ts";
import { abortedOf, exchange } from "./exchange.ts";
import type { FirstContact } from "./first-contact.ts";
import type { Capabilities } from "./learned-capabilities.ts";
import { saysRouteIsMissing } from "./missing-route.ts";
import type { ClientLog, Reachability } from "./reachability.ts";
import { isEnvelope } from "./read-envelope.ts";
import { type Pause, startRetryPolicy } from "./retry-policy.ts";
import type { ServerClock } from "./server-clock.ts";
import type { ServerPause } from "./server-pause.ts";
import type { WaitNotice } from "./wait-notice.ts";
import { askedToWait, reasonToWait, withAskedWait } from "./wait-reason.ts";

export type { Ambiguity } from "./call-outcome.ts";

/** An answer after all the tries that the call allows, and how often the request was sent for it. */
export type Called = Answer & { readonly attempts: number };

/** How a call may be made. */
type CallPolicy = {
  /** Whether it may be sent again although it may have had its effect. */
  readonly repeats: () => boolean;
  /** Whether it needs a connection that nothing was sent over before. */
  readonly fresh: boolean;
  /** Called right before the first byte of each try. */
  readonly onSent?: () => void;
  /** Awaited with the bytes of a success, or the part that arrived, before anything looks at them. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
  /** Reads the body of a success in its own way. */
  readonly parse?: BodyParser;
  readonly signal: AbortSignal;
};

/** Makes one call, with every repetition that its policy allows; whatever happens is an answer. */
export type Call = (name: OperationName, content: CallContent, policy: CallPolicy) => Promise<Called>;

/** Told of a request that was made, how long it took, and whether its whole reply came. */
export type OnRequest = (name: OperationName, milliseconds: number, isAnswered: boolean) => void;

/** What all calls to one server share. */
export type ServerLine = {
  readonly origin: string;
  readonly base: string;
  readonly userAgent: string;
  readonly requestTimeout: number;
  readonly dispatchers: Dispatchers;
  readonly credential: Credential;
  readonly capabilities: Capabilities;
  readonly isMissing: RouteCheck;
  readonly serverPause: ServerPause;
  readonly reach: Reachability;
  readonly firstContact: FirstContact;
  readonly serverClock: ServerClock;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds that a server may ask to wait. */
  readonly retryWait: number;
  readonly waitNotice: () => WaitNotice;
  readonly log?: ClientLog;
  readonly onRequest?: OnRequest;
  /** Ends the waits that the server asked for. */
  readonly stopping: AbortSignal;
  /** Ends every call. */
  readonly signal: AbortSignal;
};

/** A caller over the given line. */
export function createCall(line: ServerLine): Call {
  return async (name, content, { signal, ...given }) => {
    const policy: TryPolicy = { ...given, signals: signal === line.signal ? [signal] : [signal, line.signal] };
    const nextPause = startRetryPolicy(line, policy);
    const notice = line.waitNotice();
    let ambiguity: Answer | null = null;
    let attempts = 0;
    try {
      for (let pause: Pause | null = NO_PAUSE; ; ) {
        const held = await waited(line, pause, policy, notice);
        if (held !== null) return { ...finalAnswer(name, held, ambiguity), attempts };
        // What the server asked for is over; an outage may go on.
        if (pause.isAsked) notice.waits(null);
        attempts += 1;
        const tried = await sendOnce(line, name, { content, policy });
        if (!line.firstContact.isOver()) {
          const cause = await line.firstContact.misdirected(name, tried.answer);
          if (cause !== null) return { state: "not-sent", reason: "aborted", cause, attempts };
        }
        if (tried.answer.state === "ambiguous") ambiguity = tried.answer;
        pause = abortedOf(policy.signals) !== null ? null : nextPause(tried, attempts);
        if (pause === null) return { ...finalAnswer(name, tried.answer, ambiguity), attempts };
        if (pause.milliseconds > 0)
          notice.waits({ why: reasonToWait(line.origin, name, tried, pause), until: pause.until });
        line.log?.debug({ operation: name, attempt: attempts, pause: pause.milliseconds }, "trying again");
      }
    } finally {
      notice.ends();
    }
  };
}

const NO_PAUSE: Pause = { milliseconds: 0, until: 0, isAsked: true };

/** A policy with each signal that ends the call: joining two into one signal takes longer than listening to both. */
type TryPolicy = Omit<CallPolicy, "signal"> & { readonly signals: readonly AbortSignal[] };

// An earlier try that may have had its effect is not undone by a later one that had none.
function finalAnswer(name: OperationName, answer: Answer, ambiguity: Answer | null): Answer {
  const isRead = operation(name).retry === "read";
  return ambiguity === null || isRead || answer.state === "answered" ? answer : ambiguity;
}

/** Waits until the next try may be made; gives the answer of the call where none may. */
async function waited(
  line: ServerLine,
  { milliseconds, isAsked }: Pause,
  { signals }: TryPolicy,
  notice: WaitNotice,
): Promise<Answer | null> {
  const { clock, serverPause, retryWait, stopping } = line;
  if (milliseconds === 0 && serverPause.closed() === null) return stoppedBy(signals);
  const signal = AbortSignal.any([...signals]);
  // Who is asked to end does not sit out what a server asks for.
  const asked = { signal: AbortSignal.any([signal, stopping]) };
  try {
    if (milliseconds > 0) await clock.wait(milliseconds, isAsked ? asked : { signal });
    for (let closed = serverPause.closed(); closed !== null; closed = serverPause.closed()) {
      const rest = closed.until - clock.now();
      if (rest > retryWait) return { state: "refused", refusal: closed.refusal };
      notice.waits({ why: askedToWait(line.origin, closed.refusal, rest), until: closed.until });
      await clock.wait(Math.ceil(rest), asked);
    }
    return stoppedBy(signals);
  } catch {
    return stopped(asked.signal);
  }
}

/** The answer of a call that one of the signals has ended; null where none has. */
function stoppedBy(signals: readonly AbortSignal[]): Answer | null {
  const ended = abortedOf(signals);
  return ended === null ? null : stopped(ended);
}

function stopped({ reason }: AbortSignal): Answer {
  return { state: "not-sent", reason: "aborted", cause: reason };
}

type Asked = { readonly content: CallContent; readonly policy: TryPolicy };

async function sendOnce(line: ServerLine, name: OperationName, { content, policy }: Asked): Promise<Tried> {
  const row = operation(name);
  const token = line.credential.current();
  const started = line.clock.now();
  const { fresh, shared } = line.dispatchers;
  const outcome = await exchange(policy.fresh ? fresh : shared, composeRequest(row, content, { ...line, token }), {
    timeout: line.requestTimeout,
    cap: REPLY_CAP,
    reset: policy.fresh,
    signals: policy.signals,
    ...(policy.onSent === undefined ? {} : { onSent: policy.onSent }),
  });
  line.onRequest?.(name, line.clock.now() - started, outcome.state === "answered");
  if (outcome.state === "answered") {
    line.reach.answered();
    line.serverClock.saw(outcome.headers);
  }
  const date = line.clock.date();
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
    ? await settleRoute(line, name, { content, policy }, classified)
    : withAskedWait(classified, { date, retryWait: line.retryWait });
  learn(line, name, { answer: tried.answer, renew: () => line.credential.renew(token) });
  const milliseconds = Math.round(line.clock.now() - started);
  line.log?.debug({ operation: name, state: tried.answer.state, milliseconds }, `${row.method} ${row.path}`);
  return tried;
}

// One answer is believed only where it is in the server's own form, and nothing else was ever shown.
async function settleRoute(line: ServerLine, name: OperationName, asked: Asked, tried: Tried): Promise<Tried> {
  const { answer, reply } = tried;
  const { capabilities } = line;
  if (answer.state !== "refused" || reply === undefined) return tried;
  const row = operation(name);
  if (isDocumented(row) || capabilities.has(name) === "no") return tried;
  const isToldPlainly = capabilities.has(name) === "unknown" && saysRouteIsMissing(reply, row);
  if (isToldPlainly || (await line.isMissing(name, { content: asked.content, reply }, asked.policy))) return tried;
  const ended = stoppedBy(asked.policy.signals);
  if (ended !== null) return { answer: ended, retryAfter: null };
  const message = "whether the control plane said so, or something in between, is not clear";
  return { ...tried, answer: { state: "refused", refusal: { ...answer.refusal, reason: "route-unclear", message } } };
}

function learn(
  { capabilities }: ServerLine,
  name: OperationName,
  { answer, renew }: { readonly answer: Answer; readonly renew: () => void },
): void {
  if (answer.state === "answered") {
    if (isEnvelope(name, answer.value)) capabilities.learn(name, "yes");
    const caller = answer.headers[CALLER];
    if (typeof caller === "string") capabilities.learnCaller(caller);
    if (operation(name).retry !== "read") capabilities.learnKeys(answer.headers[IDEMPOTENCY_KEY_ACCEPTED] === "true");
  }
  if (answer.state !== "refused") return;
  if (answer.refusal.reason === "route-missing") capabilities.learn(name, "no");
  if (answer.refusal.status === 401) renew();
}
