// src/client: the client of the control plane, driven by the table of operations. See docs/architecture.md#one-write.

import type { Json } from "../contract/json.ts";
import type { Headers } from "./exchange.ts";
import type { Refusal } from "./refusal.ts";

// The result of a call goes through these types, in this order:
// - `Exchange` is one request with its reply, or with the failure (exchange.ts).
// - `Tried` is what that exchange means for the call: an `Answer`, and the wait before the next try.
// - `Called` is the answer after all tries, with their number (call.ts).
// - `Sent` is the same for a write, with the resource parsed from the reply (writer.ts).

/** Why it is unknown whether a call took effect: a closed set. */
export type Ambiguity =
  | "timeout"
  | "connection-lost"
  | "aborted"
  /** 5xx: whether the call took effect is unknown. */
  | "server-error"
  /** 3xx, which is never followed. */
  | "redirect"
  | "oversize"
  /** A 2xx with a JSON content type that does not parse: most likely cut short. */
  | "malformed"
  /** A success whose body is not what the interface documents. */
  | "protocol"
  /** The reply could not be stored, and its one-time token is not sent again. */
  | "not-kept"
  /** The reply is about another resource than the request. */
  | "mismatch";

/** The outcome of a call. */
export type Answer =
  | { readonly state: "answered"; readonly status: number; readonly value: Json; readonly headers: Headers }
  /** The server refused the call and changed nothing. */
  | { readonly state: "refused"; readonly refusal: Refusal }
  /** The call may have taken effect. */
  | {
      readonly state: "ambiguous";
      readonly ambiguity: Ambiguity;
      readonly status: number | null;
      readonly cause: unknown;
    }
  /** No byte was sent, or the call was aborted during a wait after tries that had no effect. */
  | { readonly state: "not-sent"; readonly reason: "unreachable" | "aborted"; readonly cause: unknown };

/** A reply as received, for comparison with other replies. */
export type RawReply = {
  readonly status: number;
  /** The media type in lower case; empty if the reply names none. */
  readonly type: string;
  readonly body: string;
};

/** The result of one try, and the wait that the server requests before the next one. */
export type Tried = {
  readonly answer: Answer;
  readonly retryAfter: number | null;
  /** The reply that refused the call. */
  readonly reply?: RawReply;
};
