import { type OperationName, operation } from "../contract/operations.ts";
import type { Ambiguity, Answer } from "./call-outcome.ts";
import { ClientError, type FailureReason } from "./client-error.ts";
import { causeText } from "./reachability.ts";
import type { Refusal } from "./refusal.ts";

const reasons: { readonly [ambiguity in Ambiguity]: FailureReason } = {
  timeout: "timeout",
  "connection-lost": "connection-lost",
  aborted: "connection-lost",
  "server-error": "server-error",
  redirect: "protocol",
  oversize: "oversize",
  malformed: "protocol",
  protocol: "protocol",
  "not-kept": "protocol",
  mismatch: "protocol",
};

/** The error of a read that did not succeed. */
export function readError(
  name: OperationName,
  answer: Exclude<Answer, { readonly state: "answered" }>,
  origin: string,
): ClientError {
  const { method, path } = operation(name);
  const call = `${method} ${path}`;
  switch (answer.state) {
    case "refused":
      return refusalError(name, answer.refusal);
    case "ambiguous": {
      const why =
        answer.cause instanceof Error && answer.ambiguity !== "connection-lost"
          ? answer.cause.message
          : causeText(answer.cause);
      const what = answer.ambiguity === "redirect" ? "answered with a redirect, which is not followed" : why;
      const message =
        answer.ambiguity === "connection-lost" ? `${call}: the connection broke (${why})` : `${call}: ${what}`;
      return new ClientError(reasons[answer.ambiguity], message, {
        operation: name,
        status: answer.status,
        cause: answer.cause,
      });
    }
    case "not-sent":
      return new ClientError(
        "unreachable",
        `the control plane at ${origin} cannot be reached (${causeText(answer.cause)})`,
        { operation: name, cause: answer.cause },
      );
  }
}

/** The error of a request that the server refused. */
export function refusalError(name: OperationName, { reason, status, code, message, details }: Refusal): ClientError {
  const { method, path } = operation(name);
  const suffix = message === "" ? "" : `: ${message}`;
  const context = { operation: name, status, serverCode: code, details };
  return new ClientError(reason, `${method} ${path} answered ${status}${suffix}`, context);
}
