import { type OperationName, operation } from "../contract/operations.ts";
import { timestampText } from "../core/timestamp-text.ts";
import type { Tried } from "./call-outcome.ts";
import { causeText } from "./reachability.ts";
import type { Refusal } from "./refusal.ts";
import type { Pause } from "./retry-policy.ts";

/** The reason for the wait before the next try, as text for the user. */
export function reasonToWait(origin: string, name: OperationName, { answer }: Tried, { milliseconds }: Pause): string {
  const { method, path } = operation(name);
  switch (answer.state) {
    case "not-sent":
      return `${origin} cannot be reached (${causeText(answer.cause)}): trying`;
    case "refused":
      return askedToWait(origin, answer.refusal, milliseconds);
    case "ambiguous": {
      const fault = answer.status === null ? "does not answer" : `answers ${answer.status} to`;
      return `${origin} ${fault} ${method} ${path}: trying`;
    }
    case "answered":
      return `${origin} has answered`;
  }
}

/** The pause that a server requests, as text for the user. */
export function askedToWait(origin: string, { status, message }: Refusal, milliseconds: number): string {
  const suffix = message === "" ? "" : `: ${message}`;
  return `${origin} asks for a pause of ${seconds(milliseconds)} (${status}${suffix})`;
}

/** Adds the wait that the server requested to a refusal, if it is longer than `retryWait`. */
export function withAskedWait(
  tried: Tried,
  { date, retryWait }: { readonly date: number; readonly retryWait: number },
): Tried {
  const { answer, retryAfter } = tried;
  if (answer.state !== "refused" || retryAfter === null || retryAfter <= retryWait) return tried;
  if (answer.refusal.reason !== "throttled") return tried;
  const end = timestampText(date + retryAfter);
  const request = `it asks to wait ${seconds(retryAfter)}, until ${end}, and --retry-wait is ${seconds(retryWait)}`;
  const message = [answer.refusal.message, request].filter((part) => part !== "").join("; ");
  return { ...tried, answer: { state: "refused", refusal: { ...answer.refusal, message } } };
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 100) / 10} s`;
}
