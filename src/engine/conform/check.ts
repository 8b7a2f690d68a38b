// src/engine/conform: checks whether a control plane keeps the interface. See docs/conform.md.

import { ClientError, type FailureReason } from "../../client/client-error.ts";
import { causeText } from "../../client/reachability.ts";
import { refusalError } from "../../client/read-error.ts";
import type { Sent, WriteContent } from "../../client/writer.ts";
import type { ConformCheck, ConformLevel, ConformResult } from "../../contract/generated/output.ts";
import type { JsonObject } from "../../contract/json.ts";
import { type OperationName, operation, type WriteOperation } from "../../contract/operations.ts";
import { type ConformContext, failureOf } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";

/** The result of a check, with what was found, or why it was not made. */
export type Verdict = Pick<ConformCheck, "reason"> & { readonly result: ConformResult };

/** One property of a control plane. */
export type Check = Pick<ConformCheck, "check" | "part" | "asserts" | "without"> & {
  readonly level: ConformLevel;
  readonly operations: readonly OperationName[];
  /** @default whether the interface asks for it */
  readonly required?: boolean;
  /** Resolves to what was found instead; null if it holds. */
  readonly find: (context: ConformContext) => Promise<string | null>;
};

/** Makes a check. Failures that concern every request are thrown. */
export async function verdictOf({ find, level }: Check, context: ConformContext): Promise<Verdict> {
  try {
    const found = await find(context);
    return found === null ? { result: "holds", reason: null } : { result: "fails", reason: found };
  } catch (error) {
    const failure = error instanceof NotCheckableError ? error.cause : error;
    if (failure instanceof ClientError) await requireAnswers(failure, context);
    if (error instanceof NotCheckableError) return { result: "not-checked", reason: error.message };
    if (!(error instanceof ClientError)) throw error;
    const why = NOT_CHECKED[error.reason];
    if (why !== undefined) return { result: "not-checked", reason: `${why}: ${error.message}` };
    // What others name and this token may not see is answered as if it were absent.
    if (error.reason === "not-found" && level === "read")
      return { result: "not-checked", reason: `absent, or this token may not see it: ${error.message}` };
    return { result: "fails", reason: error.message };
  }
}

// These say nothing of what an operation does.
const NOT_CHECKED: { readonly [reason in FailureReason]?: string } = {
  forbidden: "this token may not",
  throttled: "the control plane asks to wait",
};

const MAY_CONCERN_ALL: readonly FailureReason[] = ["unauthorized", "throttled", "timeout", "connection-lost"];

/** Rejects where a failure is not that of one request: operation 1 fails so too, or nothing can be sent. */
async function requireAnswers(failure: ClientError, { reader, signal }: ConformContext): Promise<void> {
  if (failure.reason === "unreachable") throw failure;
  if (!MAY_CONCERN_ALL.includes(failure.reason)) return;
  try {
    await reader.page("listWorkspaces", { limit: 1 }, { signal });
  } catch (error) {
    const isAnswer = error instanceof ClientError && ![...MAY_CONCERN_ALL, "unreachable"].includes(error.reason);
    if (!isAnswer) throw error;
  }
}

/** Waits for what a check needs; where that fails, the check cannot be made. */
export async function needed<Value>(value: Promise<Value>, what: string): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof ClientError) throw new NotCheckableError(`${what}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Rejects where operation 1 is answered with the same status: then that status says nothing of a single request. */
export async function requireTelling(refusal: ClientError | null, { list }: ConformContext): Promise<void> {
  const own = await failureOf(list("listWorkspaces"));
  if (own === null || own.status !== refusal?.status) return;
  throw new NotCheckableError(`operation 1 is answered so too: ${own.message}`, { cause: own });
}

/** How a request is refused, or answered in another form than the documented one; null if it is answered in that. */
export async function refusalOf(request: Promise<unknown>): Promise<ClientError | null> {
  try {
    await request;
    return null;
  } catch (error) {
    if (error instanceof ClientError && error.status !== null && !MAY_CONCERN_ALL.includes(error.reason)) return error;
    throw error;
  }
}

/** What a request is answered that should be refused with a status; null if it is. */
export async function unlessRefused(request: Promise<unknown>, status: number): Promise<string | null> {
  const refusal = await refusalOf(request);
  // That says something of the token alone.
  if (refusal?.reason === "forbidden") throw refusal;
  return refusal?.status === status ? null : `it is answered ${refusal?.status ?? "with success"}`;
}

/** A write that was applied: its resource, and whether the reply carried a one-time token. */
export type AppliedWrite = { readonly data: JsonObject; readonly hasToken: boolean; readonly created: boolean | null };

/** Sends a write, whose refusal is an error. A one-time token of the reply is dropped. */
export async function written(
  { writer, signal }: ConformContext,
  name: WriteOperation,
  content: WriteContent,
): Promise<AppliedWrite> {
  return appliedOf(name, await writer.send(name, content, { signal }));
}

/** What a write has made; any other end of it is an error. */
export function appliedOf(name: WriteOperation, sent: Sent): AppliedWrite {
  if (sent.state === "applied") {
    return { data: sent.data as unknown as JsonObject, hasToken: sent.token !== null, created: sent.created };
  }
  if (sent.state === "refused") throw refusalError(name, sent);
  const { method, path } = operation(name);
  const what = sent.cause instanceof Error ? sent.cause.message : causeText(sent.cause);
  throw new ClientError(reasonOf(sent), `${method} ${path}: ${what}`, { operation: name, cause: sent.cause });
}

function reasonOf(sent: Extract<Sent, { readonly state: "ambiguous" | "not-sent" }>): FailureReason {
  if (sent.state === "not-sent") return "unreachable";
  const { reason } = sent;
  if (reason === "aborted") return "connection-lost";
  return reason === "timeout" || reason === "connection-lost" || reason === "server-error" ? reason : "protocol";
}
