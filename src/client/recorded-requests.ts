import { hash } from "node:crypto";
import type { Stop } from "../clock/clock.ts";
import { operation } from "../contract/operations.ts";
import type { AnsweredRequest } from "../core/report/settled-pass.ts";
import type { Call } from "./call.ts";
import type { BodyParser } from "./decode-body.ts";

/** The requests of a connection since a moment, as far as they can be made again. */
export type RecordedRequests = {
  /** Forgets the earlier ones. */
  readonly begin: () => void;
  /** Those since then, in order; null if they are too many, had no clear answer, or have written. */
  readonly sinceBegin: () => readonly AnsweredRequest[] | null;
  /** Makes requests again, and returns whether all have the same answer; it ends with the first that has not. */
  readonly haveSameAnswers: (requests: readonly AnsweredRequest[], stop: Stop) => Promise<boolean>;
};

const MOST_REQUESTS = 100;

/** Records the requests of a call; the returned one takes its place. */
export function recordRequests(call: Call): RecordedRequests & { readonly call: Call } {
  let recorded: AnsweredRequest[] | null = null;
  return {
    call: async (name, content, policy) => {
      if (recorded === null) return call(name, content, policy);
      const { called, answer } = await digested(call, [name, content, policy]);
      const { path = {}, query = {} } = content;
      const isRead = operation(name).retry === "read" && answer !== null;
      if (!isRead || recorded === null || recorded.length === MOST_REQUESTS) recorded = null;
      else recorded.push({ operation: name, path, query, ...answer });
      return called;
    },
    begin: () => {
      recorded = [];
    },
    sinceBegin: () => recorded,
    haveSameAnswers: async (requests, { signal }) => {
      const policy = { repeats: () => true, fresh: false, signal };
      for (const [nth, { operation: name, path, query, status, digest }] of requests.entries()) {
        // By the content of a first answer, the call sees that a control plane gave it.
        const parsing = nth === 0 ? policy : { ...policy, parse: () => ({}) };
        const { answer } = await digested(call, [name, { path, query }, parsing]);
        if (answer?.status !== status || answer.digest !== digest) return false;
      }
      return true;
    },
  };
}

type Digested = {
  readonly called: Awaited<ReturnType<Call>>;
  /** Null where it was not clear. */
  readonly answer: Pick<AnsweredRequest, "status" | "digest"> | null;
};

async function digested(call: Call, [name, content, policy]: Parameters<Call>): Promise<Digested> {
  let digest: string | null = null;
  const parse: BodyParser = (bytes, maxDepth) => {
    digest = hash("sha256", bytes, "base64url");
    return policy.parse?.(bytes, maxDepth) ?? null;
  };
  const called = await call(name, content, { ...policy, parse });
  switch (called.state) {
    case "answered":
      return { called, answer: digest === null ? null : { status: called.status, digest } };
    case "refused":
      return { called, answer: { status: called.refusal.status, digest: null } };
    default:
      return { called, answer: null };
  }
}
