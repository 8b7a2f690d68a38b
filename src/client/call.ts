import type { Buffer } from "node:buffer";
import type { Json } from "../contract/json.ts";
import { type OperationName, operation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import { backoff } from "./backoff.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Clock } from "./clock.ts";
import { type CallContent, composeRequest } from "./compose.ts";
import type { Credential } from "./credential.ts";
import { decode, REPLY_CAP } from "./decode.ts";
import type { Dispatchers } from "./dispatcher.ts";
import { type Exchange, exchange, type Headers } from "./exchange.ts";
import type { Gate } from "./gate.ts";
import { type ClientLog, isLasting, type Reach } from "./reach.ts";
import { type Refusal, readRefusal } from "./refusal.ts";
import { retryAfter } from "./retry-after.ts";

/** Why it is not known whether a call had its effect: a closed set. */
export type Doubt =
  | "timeout"
  | "connection-lost"
  | "aborted"
  /** 5xx, or 3xx: something answered, and who knows what happened behind it. */
  | "server-error"
  | "redirect"
  | "oversize"
  /** A success whose body says it is JSON and is none: cut short, most likely. */
  | "malformed"
  /** A success whose body is not what the interface documents. */
  | "protocol"
  /** The reply could not be put away, and what it carried comes only once. */
  | "not-kept"
  /** The reply tells of another resource than the request did. */
  | "mismatch";

/** What became of a call after all the tries that it allows. */
export type Answer =
  | { readonly state: "answered"; readonly status: number; readonly value: Json; readonly headers: Headers }
  | { readonly state: "refused"; readonly refusal: Refusal }
  | { readonly state: "ambiguous"; readonly doubt: Doubt; readonly status: number | null; readonly cause: unknown }
  | { readonly state: "not-sent"; readonly reason: "unreachable" | "aborted"; readonly cause: unknown };

/** An answer, and how often the request was sent for it. */
export type Called = Answer & { readonly attempts: number };

/** How a call may be made. */
export type CallPolicy = {
  /** Whether it may be sent again although it may have had its effect. */
  readonly repeats: () => boolean;
  /** Whether it needs a connection that nothing was sent over before. */
  readonly fresh: boolean;
  readonly onSent?: () => void;
  /** Awaited with the bytes of a 2xx reply, or what came of one, before anything looks at them. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
};

/** Makes one call, with every repetition that its policy allows. */
export type Caller = (name: OperationName, content: CallContent, policy: CallPolicy) => Promise<Called>;

/** What all calls to one server share. */
export type Line = {
  readonly origin: string;
  readonly base: string;
  readonly userAgent: string;
  readonly requestTimeout: number;
  readonly dispatchers: Dispatchers;
  readonly credential: Credential;
  readonly capabilities: Capabilities;
  readonly gate: Gate;
  readonly reach: Reach;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log?: ClientLog;
};

const LONGEST_PAUSES = 15 * 60_000;
const MALFORMED_TRIES = 3;

/** A caller over the given line. */
export function createCaller(line: Line): Caller {
  return async (name, content, policy) => {
    const course = startCourse(line, policy);
    for (let attempts = 1; ; attempts += 1) {
      const passed = await settled(line.gate.pass(policy));
      if (!passed) return { state: "not-sent", reason: "aborted", cause: policy.signal.reason, attempts: attempts - 1 };
      const tried = await attempt(line, name, content, policy);
      const pause = course(tried, attempts);
      if (pause === null) return { ...tried.answer, attempts };
      line.log?.debug({ operation: name, attempt: attempts, pause }, "trying again");
      if (!(await settled(line.clock.wait(pause, policy)))) return { ...tried.answer, attempts };
    }
  };
}

type Tried = { readonly answer: Answer; readonly retryAfter: number | null };

async function attempt(line: Line, name: OperationName, content: CallContent, policy: CallPolicy): Promise<Tried> {
  const row = operation(name);
  const token = line.credential.current();
  const request = composeRequest(row, content, { ...line, token });
  const started = line.clock.now();
  const outcome = await exchange(policy.fresh ? line.dispatchers.fresh : line.dispatchers.shared, request, {
    timeout: line.requestTimeout,
    cap: REPLY_CAP,
    signal: policy.signal,
    ...(policy.onSent === undefined ? {} : { onSent: policy.onSent }),
  });
  if (outcome.state === "answered") line.reach.answered();
  const tried = await judge(line, name, { outcome, token, policy });
  line.log?.debug(
    { operation: name, state: tried.answer.state, milliseconds: Math.round(line.clock.now() - started) },
    `${request.method} ${row.path}`,
  );
  return tried;
}

type Judged = { readonly outcome: Exchange; readonly token: Secret; readonly policy: CallPolicy };

async function judge(line: Line, name: OperationName, { outcome, token, policy }: Judged): Promise<Tried> {
  if (outcome.state === "not-sent") {
    const { cause, aborted } = outcome;
    return final({ state: "not-sent", reason: aborted ? "aborted" : "unreachable", cause });
  }
  const { status } = outcome;
  const bytes = outcome.state === "answered" ? outcome.body : outcome.partial;
  if (isSuccess(status) && policy.onReply !== undefined && bytes.length > 0) {
    try {
      await policy.onReply(bytes);
    } catch (cause) {
      return final({ state: "ambiguous", doubt: "not-kept", status, cause });
    }
  }
  if (outcome.state === "broken") {
    return final({ state: "ambiguous", doubt: outcome.reason, status, cause: outcome.cause });
  }
  return read(line, name, outcome, token);
}

type Answered = Extract<Exchange, { readonly state: "answered" }>;

async function read(
  line: Line,
  name: OperationName,
  { status, headers, body }: Answered,
  token: Secret,
): Promise<Tried> {
  const decoded = await decode(headers, body);
  const pause = retryAfter(headers, { date: line.clock.date() });
  if (isSuccess(status)) {
    line.capabilities.learn(name, "yes");
    if (decoded.state === "json") return final({ state: "answered", status, value: decoded.value, headers });
    const doubt = decoded.state === "oversize" ? "oversize" : isCut(headers, decoded.raw) ? "malformed" : "protocol";
    return final({ state: "ambiguous", doubt, status, cause: new Error(`the reply ${decoded.fault}`) });
  }
  const raw = decoded.state === "oversize" ? "" : decoded.raw;
  const value = decoded.state === "json" ? decoded.value : undefined;
  const refusal = readRefusal(operation(name), status, { body: value, raw, token });
  if (status === 401) line.credential.renew(token);
  if (refusal.reason === "route-missing") line.capabilities.learn(name, "no");
  if (isRefusal(status, pause)) return { answer: { state: "refused", refusal }, retryAfter: pause };
  const doubt = status < 400 ? "redirect" : "server-error";
  return final({ state: "ambiguous", doubt, status, cause: new Error(told(status, refusal.message)) });
}

function isCut(headers: Headers, raw: string): boolean {
  return raw !== "" && /[/+]json\b/.test(String(headers["content-type"]));
}

// 503 with Retry-After, and 501, say that nothing was done; 408 and every other 5xx say nothing.
function isRefusal(status: number, pause: number | null): boolean {
  if (status >= 500) return status === 501 || (status === 503 && pause !== null);
  return status >= 400 && status !== 408;
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

function told(status: number, message: string): string {
  return message === "" ? `answered ${status}` : `answered ${status}: ${message}`;
}

function final(answer: Answer): Tried {
  return { answer, retryAfter: null };
}

// Decides after each try how long to wait for the next one; null when this answer stands.
function startCourse(line: Line, policy: CallPolicy): (tried: Tried, attempts: number) => number | null {
  const started = line.clock.now();
  let renewed = false;
  let paused = 0;
  let faultsSince: number | null = null;

  const untilThen = (deadline: number, attempts: number) => {
    const wait = backoff(attempts, line.random());
    return line.clock.now() + wait > deadline ? null : wait;
  };
  const afterPause = (asked: number | null, attempts: number) => {
    const wait = asked ?? Math.max(backoff(attempts, 1) / 2, backoff(attempts, line.random()));
    paused += wait;
    return paused > LONGEST_PAUSES ? null : wait;
  };
  const afterFault = (attempts: number) => {
    faultsSince ??= line.clock.now();
    return untilThen(line.reach.deadline(started, faultsSince), attempts);
  };

  return ({ answer, retryAfter: asked }, attempts) => {
    if (policy.signal.aborted) return null;
    switch (answer.state) {
      case "answered":
        return null;
      case "not-sent": {
        const deadline = line.reach.deadline(started, line.reach.failed(answer.cause));
        return isLasting(answer.cause) ? null : untilThen(deadline, attempts);
      }
      case "ambiguous":
        return policy.repeats() && mayPass(answer.doubt, attempts) ? afterFault(attempts) : null;
      case "refused":
        break;
    }
    const { status } = answer.refusal;
    if (status === 401 && !renewed) {
      renewed = true;
      return 0;
    }
    if (status !== 429 && status !== 503) return null;
    const wait = afterPause(asked, attempts);
    if (status === 429 && wait !== null) line.gate.pause(wait);
    return wait;
  };
}

// Repeating helps against what the network did, not against what the server says on purpose.
function mayPass(doubt: Doubt, attempts: number): boolean {
  if (doubt === "malformed") return attempts < MALFORMED_TRIES;
  return doubt === "timeout" || doubt === "connection-lost" || doubt === "server-error";
}

async function settled(promise: Promise<void>): Promise<boolean> {
  try {
    await promise;
    return true;
  } catch {
    return false;
  }
}
