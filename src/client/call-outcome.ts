import type { Json } from "../contract/json.ts";
import type { Headers } from "./exchange.ts";
import type { Refusal } from "./refusal.ts";

// How the result of a call is made, one type after the other:
// - `Exchange` is one request with its reply, or what broke it (exchange.ts).
// - `Tried` is what that exchange means for the call: an `Answer`, and how long to wait before the next try.
// - `Called` is the answer after all tries, with their number (call.ts).
// - `Sent` is the same for a write, with the resource read from the reply (writer.ts).

/** Why it is not known whether a call had its effect: a closed set. */
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
  /** The reply could not be stored, and what it carried comes only once. */
  | "not-kept"
  /** The reply tells of another resource than the request did. */
  | "mismatch";

/** What became of a call. */
export type Answer =
  | { readonly state: "answered"; readonly status: number; readonly value: Json; readonly headers: Headers }
  /** The server said no, and did nothing. */
  | { readonly state: "refused"; readonly refusal: Refusal }
  /** It may have had its effect. */
  | {
      readonly state: "ambiguous";
      readonly ambiguity: Ambiguity;
      readonly status: number | null;
      readonly cause: unknown;
    }
  /** No byte left this machine; or it was stopped while it waited, after tries that had no effect. */
  | { readonly state: "not-sent"; readonly reason: "unreachable" | "aborted"; readonly cause: unknown };

/** A reply as it came, to be compared with others. */
export type RawReply = {
  readonly status: number;
  /** Its media type, in lower case; empty where it names none. */
  readonly type: string;
  readonly body: string;
};

/** What one try gave, and how long the server asks to wait before the next one. */
export type Tried = {
  readonly answer: Answer;
  readonly retryAfter: number | null;
  /** The reply that refused it. */
  readonly reply?: RawReply;
};
