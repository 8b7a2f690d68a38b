import type { Buffer } from "node:buffer";
import { isDocumented, type OperationName, operation } from "../contract/operations.ts";
import type { Answer, Tried } from "./answer.ts";
import type { Capabilities } from "./capabilities.ts";
import type { Clock } from "./clock.ts";
import { type CallContent, composeRequest } from "./compose.ts";
import { startCourse } from "./course.ts";
import type { Credential } from "./credential.ts";
import { REPLY_CAP } from "./decode.ts";
import type { Dispatchers } from "./dispatcher.ts";
import { isEnvelope } from "./envelope.ts";
import { exchange } from "./exchange.ts";
import type { Gate } from "./gate.ts";
import { judge } from "./judge.ts";
import { saysRouteIsMissing } from "./missing-route.ts";
import type { ClientLog, Reach } from "./reach.ts";
import type { Recall } from "./recall.ts";
import type { RouteCheck } from "./route-check.ts";
import type { ServerClock } from "./server-clock.ts";

export type { Doubt } from "./answer.ts";

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
  /** Awaited with the bytes of a success, or what came of one, before anything looks at them. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
  /** What is known of the rows of a list. */
  readonly recall?: Recall;
  readonly signal: AbortSignal;
};

/** Makes one call, with every repetition that its policy allows; whatever happens is an answer. */
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
  readonly isMissing: RouteCheck;
  readonly gate: Gate;
  readonly reach: Reach;
  readonly serverClock: ServerClock;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log?: ClientLog;
  /** Ends every call. */
  readonly signal: AbortSignal;
};

/** A caller over the given line. */
export function createCaller(line: Line): Caller {
  return async (name, content, given) => {
    const policy = { ...given, signal: either(given.signal, line.signal) };
    const course = startCourse(line, policy);
    let doubt: Answer | null = null;
    let attempts = 0;
    for (let pause: number | null = 0; ; ) {
      if (!(await waited(line, pause, policy))) return { ...honest(name, stopped(policy), doubt), attempts };
      attempts += 1;
      const tried = await attempt(line, name, { content, policy });
      if (tried.answer.state === "ambiguous") doubt = tried.answer;
      pause = policy.signal.aborted ? null : course(tried, attempts);
      if (pause === null) return { ...honest(name, tried.answer, doubt), attempts };
      line.log?.debug({ operation: name, attempt: attempts, pause }, "trying again");
    }
  };
}

const KEYS = "idempotency-key-accepted";

function stopped({ signal }: CallPolicy): Answer {
  return { state: "not-sent", reason: "aborted", cause: signal.reason };
}

function either(one: AbortSignal, other: AbortSignal): AbortSignal {
  return one === other ? one : AbortSignal.any([one, other]);
}

// An earlier try that may have had its effect is not undone by a later one that had none.
function honest(name: OperationName, answer: Answer, doubt: Answer | null): Answer {
  const isRead = operation(name).retry === "read";
  return doubt === null || isRead || answer.state === "answered" ? answer : doubt;
}

async function waited({ clock, gate }: Line, pause: number, { signal }: CallPolicy): Promise<boolean> {
  try {
    if (pause > 0) await clock.wait(pause, { signal });
    await gate.pass({ signal });
    return !signal.aborted;
  } catch {
    return false;
  }
}

type Asked = { readonly content: CallContent; readonly policy: CallPolicy };

async function attempt(line: Line, name: OperationName, { content, policy }: Asked): Promise<Tried> {
  const row = operation(name);
  const token = line.credential.current();
  const started = line.clock.now();
  const { fresh, shared } = line.dispatchers;
  const outcome = await exchange(policy.fresh ? fresh : shared, composeRequest(row, content, { ...line, token }), {
    timeout: line.requestTimeout,
    cap: REPLY_CAP,
    reset: policy.fresh,
    signal: policy.signal,
    ...(policy.onSent === undefined ? {} : { onSent: policy.onSent }),
  });
  if (outcome.state === "answered") {
    line.reach.answered();
    line.serverClock.saw(outcome.headers);
  }
  const heard = await judge(outcome, {
    name,
    token,
    date: line.clock.date(),
    ...(policy.onReply === undefined ? {} : { onReply: policy.onReply }),
    ...(policy.recall === undefined ? {} : { recall: policy.recall }),
  });
  const tried = await settleRoute(line, name, { content, policy }, heard);
  learn(line, name, { answer: tried.answer, renew: () => line.credential.renew(token) });
  const milliseconds = Math.round(line.clock.now() - started);
  line.log?.debug({ operation: name, state: tried.answer.state, milliseconds }, `${row.method} ${row.path}`);
  return tried;
}

// One answer is believed only where it is in the server's own form, and nothing else was ever shown.
async function settleRoute(line: Line, name: OperationName, asked: Asked, tried: Tried): Promise<Tried> {
  const { answer, reply } = tried;
  const { capabilities } = line;
  if (answer.state !== "refused" || reply === undefined || answer.refusal.reason !== "route-missing") return tried;
  const row = operation(name);
  if (isDocumented(row) || capabilities.has(name) === "no") return tried;
  const isToldPlainly = capabilities.has(name) === "unknown" && saysRouteIsMissing(reply, row);
  if (isToldPlainly || (await line.isMissing(name, { content: asked.content, reply }, asked.policy))) return tried;
  const message = "whether the control plane said so, or something in between, is not clear";
  return { ...tried, answer: { state: "refused", refusal: { ...answer.refusal, reason: "route-unclear", message } } };
}

function learn(
  { capabilities }: Line,
  name: OperationName,
  { answer, renew }: { readonly answer: Answer; readonly renew: () => void },
): void {
  if (answer.state === "answered") {
    if (isEnvelope(name, answer.value)) capabilities.learn(name, "yes");
    if (operation(name).retry !== "read") capabilities.learnKeys(answer.headers[KEYS] === "true");
  }
  if (answer.state !== "refused") return;
  if (answer.refusal.reason === "route-missing") capabilities.learn(name, "no");
  if (answer.refusal.status === 401) renew();
}
