import { hash } from "node:crypto";
import type { Clock } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import type { ActionName, ActionReply, PassRecord } from "../../contract/generated/output.ts";
import { HoldfastError } from "../../core/errors.ts";
import { isCommitPrefix } from "../../core/holds.ts";
import { isSuccess } from "../../core/report/report.ts";
import { HttpError } from "../../http/http-error.ts";
import type { ActionTime, EndedAction } from "../../state/target-store.ts";
import type { CarriedOut } from "../carry-out.ts";
import { machineName } from "../pass-queue.ts";
import type { DashboardTarget } from "./dashboard-source.ts";
import { type AskedAction, readAction } from "./read-action.ts";
import type { DashboardReader } from "./read-dashboard.ts";

/** A request for an action. */
export type ActionRequest = {
  readonly target: string;
  readonly name: ActionName;
  /** Names the request: one that comes again is not carried out again. */
  readonly key: string;
  readonly body: unknown;
};

/** What actions are carried out with. */
export type ActionParts = {
  readonly reader: Pick<DashboardReader, "found" | "stored" | "resources">;
  readonly isShared: () => boolean;
  /** Called when the state of a target has changed. */
  readonly onChange: (target: string) => void;
  readonly clock: Clock;
  /** How long a request waits for the end of its action, in milliseconds. @default 20_000 */
  readonly replyMs?: number;
};

/** How long a request waits for the end of its action: less than the silence after which connections are closed. */
const REPLY_MS = 20_000;
/** How long an action that a process has taken is believed to go on, and how often the process says that it does. */
const TAKEN_MS = 60_000;
const RENEW_MS = 15_000;
/** How often it is looked whether an action that another process has taken has ended. */
const LOOK_MS = 500;

type RunningAction = { readonly content: string; readonly end: Promise<ActionReply> };

/**
 * Returns a function that carries out actions, each once, and records them in the history of their target. An action goes on
 * after its request was answered: one that comes again with its key waits for the same end.
 */
export function carriesOutActions(parts: ActionParts): (request: ActionRequest) => Promise<ActionReply> {
  const running = new Map<string, RunningAction>();
  return async (request) => {
    const { target, name, key, body } = request;
    const id = `${target} ${key}`;
    const content = hash("sha256", JSON.stringify([name, body]), "hex");
    const before = running.get(id);
    if (before !== undefined && before.content !== content) throw keyOfOther();
    const end = before?.end ?? carryOutOnce(request, content, parts);
    if (before === undefined) {
      running.set(id, { content, end });
      const forget = () => running.delete(id);
      end.then(forget, forget);
    }
    const reply = (await endWithin(end, parts)) ?? { target, record: null, isRepeated: false };
    return before === undefined ? reply : { ...reply, isRepeated: true };
  };
}

async function endWithin(
  end: Promise<ActionReply>,
  { clock, replyMs = REPLY_MS }: ActionParts,
): Promise<ActionReply | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  using _ = clock.after(replyMs, () => resolve(null), { ref: false });
  return await Promise.race([end, promise]);
}

async function carryOutOnce(
  { target: name, key, ...request }: ActionRequest,
  content: string,
  parts: ActionParts,
): Promise<ActionReply> {
  const { reader, clock } = parts;
  const target = reader.found(name);
  const startedAt = clock.now();
  const asked = refusing(() => readAction(request.name, request.body, startedAt));
  const { carryOut } = target;
  if (carryOut === undefined)
    throw new HttpError(409, "not-watched", `no daemon of this process watches ${name}: use the command`);
  await requireKnown(asked, name, parts);
  const recordOf = (failure: Failure, reason: RecordedAction["reason"] = "Refused"): PassRecord =>
    recordFor(asked, { key, startedAt, endedAt: clock.now(), failure, reason, isShared: parts.isShared() });
  const lost = { code: "interrupted", message: `${machineName} ended before it was done, or lost the state` } as const;
  const taken = { key, content, interrupted: { record: recordOf(lost, "Interrupted"), failure: lost } };
  for (;;) {
    const turn = await reader.stored(name, (store) => store.takeAction(taken, timeOf(clock)));
    if (turn.is !== "taken" && turn.content !== content) throw keyOfOther();
    switch (turn.is) {
      case "taken":
        return carryOutTaken(asked, { target: name, key, carryOut, recordOf }, parts);
      case "running":
        // Another process carries it out.
        await clock.sleep(LOOK_MS, { ref: false });
        break;
      case "ended":
        if (turn.failure !== null) throw refused(turn.failure);
        return { target: name, record: turn.record, isRepeated: true };
    }
  }
}

/** Until when an action is believed to go on, from now. */
function timeOf({ now }: Clock): ActionTime {
  return { now: now(), forMs: TAKEN_MS };
}

type Failure = EndedAction["failure"];

/** What an action that this process has taken needs to be carried out and recorded. */
type OwnAction = Pick<ActionRequest, "target" | "key"> & {
  readonly carryOut: NonNullable<DashboardTarget["carryOut"]>;
  readonly recordOf: (failure: Failure) => PassRecord;
};

async function carryOutTaken(
  { command }: AskedAction,
  { target, key, carryOut, recordOf }: OwnAction,
  { reader, clock, onChange }: ActionParts,
): Promise<ActionReply> {
  const renew = (): void => {
    // Where the state does not answer now, it is said again later.
    reader.stored(target, (store) => store.renewAction(key, timeOf(clock))).catch(() => undefined);
  };
  using _ = clock.every(RENEW_MS, renew, { ref: false });
  const [failure, fault] = await carryOut(command).then(
    (result) => [whyRefused(command, result), null] as const,
    (error: unknown) => [failureOf(error), error instanceof HoldfastError ? null : error] as const,
  );
  const record = recordOf(failure);
  await reader.stored(target, (store) => store.endAction(key, { record, failure }));
  onChange(target);
  if (fault !== null) throw fault;
  if (failure !== null) throw refused(failure);
  return { target, record, isRepeated: false };
}

function failureOf(error: unknown): NonNullable<Failure> {
  return { code: error instanceof HoldfastError ? error.code : "error", message: errorMessage(error) };
}

function whyRefused(command: AskedAction["command"], result: CarriedOut): Failure {
  const wasNotHeld = command.is === "release" && result === false && !isCommitPrefix(command.what);
  if (wasNotHeld) return { code: "invalid", message: `${command.what} is not held` };
  const why = whyNotDone(result);
  return why === null ? null : { code: "error", message: why };
}

function whyNotDone(result: CarriedOut): string | null {
  if (typeof result === "boolean") return null;
  switch (result.what) {
    case "read":
      return "the source is refused, so nothing was done";
    case "records": {
      const left = result.report.left.filter(({ why }) => why !== "recorded");
      return left.length === 0 ? null : left.map(({ identity, why }) => `${identity}: ${why}`).join(", ");
    }
    case "applied": {
      const failed = result.report.outcomes.filter((one) => !isSuccess(one.result));
      return failed.length === 0 ? null : failed.map(({ identity, result: end }) => `${identity} ${end}`).join(", ");
    }
    default:
      return null;
  }
}

// A name that is misspelt would hold nothing.
async function requireKnown({ identities }: AskedAction, target: string, { reader }: ActionParts): Promise<void> {
  if (identities.length === 0) return;
  const table = await reader.resources(target);
  const unknown = identities.find((identity) => table({ ...EVERYTHING, identity }).matching === 0);
  if (unknown === undefined) return;
  throw new HttpError(400, "unknown-resource", `${unknown} is neither declared nor recorded`);
}

const EVERYTHING = {
  state: [],
  kind: [],
  attention: false,
  search: null,
  sort: "identity",
  offset: 0,
  limit: 1,
} as const;

type RecordedAction = {
  readonly key: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failure: Failure;
  readonly reason: "Refused" | "Interrupted";
  readonly isShared: boolean;
};

function recordFor(
  { name, by, text }: AskedAction,
  { key, startedAt, endedAt, failure, reason, isShared }: RecordedAction,
): PassRecord {
  return {
    startedAt: new Date(startedAt).toISOString(),
    endedAt: new Date(endedAt).toISOString(),
    commit: null,
    result: "action",
    action: { name, by, key },
    reason: failure === null ? null : reason,
    message: failure === null ? text : `${text}; ${reason.toLowerCase()}: ${failure.message}`,
    counts: {},
    ...(isShared && { machine: machineName }),
  };
}

function refusing<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof HoldfastError ? refused(failureOf(error)) : error;
  }
}

function refused({ code, message }: NonNullable<Failure>): HttpError {
  return new HttpError(code === "invalid" ? 400 : 409, `action-${code}`, message);
}

function keyOfOther(): HttpError {
  return new HttpError(409, "key-reused", "another action was asked for with this Idempotency-Key");
}
