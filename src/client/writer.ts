import type { Buffer } from "node:buffer";
import type { Stop } from "../clock/clock.ts";
import { type OperationName, operation, type Replies, type WriteOperation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import type { Call, Called } from "./call.ts";
import type { Ambiguity } from "./call-outcome.ts";
import type { CallContent } from "./compose-request.ts";
import type { SendRight } from "./exchange.ts";
import { readResourceReply } from "./read-envelope.ts";
import type { Refusal } from "./refusal.ts";
import { isSameResource } from "./same-resource.ts";
import type { ServerCapabilities } from "./server-capabilities.ts";

/** The result of a write. */
export type Sent<Name extends OperationName = WriteOperation> = {
  /** The number of times the request was sent. */
  readonly attempts: number;
} & (
  | {
      readonly state: "applied";
      readonly status: number;
      readonly data: Replies[Name];
      /** The one-time token, if the reply carried one. */
      readonly token: Secret | null;
      /** Whether this call created the token; only `getPersonalAccessToken` reports it. */
      readonly created: boolean | null;
    }
  /** The server refused the write and changed nothing. */
  | ({ readonly state: "refused" } & Refusal)
  /** The write may have taken effect: read the resource before anything is sent again. */
  | { readonly state: "ambiguous"; readonly reason: Ambiguity; readonly status: number | null; readonly cause: unknown }
  /** No byte was sent, or the write was aborted during a wait after tries that had no effect. */
  | { readonly state: "not-sent"; readonly reason: "unreachable" | "aborted"; readonly cause: unknown }
);

/** The content of a write, and callbacks for its progress. */
export type WriteContent = CallContent & {
  /** What each try needs; a write whose right has gone while it waited is not sent. */
  readonly right?: SendRight;
  /** Called right before the first byte of each try. */
  readonly onSent?: () => void;
  /** Awaited with the reply's bytes, or the part that arrived, before they are parsed. It stores one-time tokens. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
};

/** The requests that change a control plane. */
export type Writer = {
  /** Sends one write. Each failure is an answer, not an exception, except where the renewal of its right rejects. */
  readonly send: <Name extends WriteOperation>(name: Name, content: WriteContent, stop: Stop) => Promise<Sent<Name>>;
};

/** Creates a writer that uses `call`. It retries only what the retry class of the operation allows. */
export function createWriter(call: Call, capabilities: ServerCapabilities): Writer {
  return {
    send: async (name, { right, onSent, onReply, ...content }, { signal }) => {
      const { retry } = operation(name);
      const guarded = retry === "once" || retry === "token";
      const isExecutedOnce = () => content.idempotencyKey !== undefined && capabilities.honoursKeys;
      const called = await call(name, content, {
        repeats: () => retry === "repeat" || (guarded && isExecutedOnce()),
        // A reused connection may break after the request has arrived, and its reply can be repeated only with a key.
        fresh: guarded && !isExecutedOnce(),
        signal,
        ...(right === undefined ? {} : { right }),
        ...(onSent === undefined ? {} : { onSent }),
        ...(onReply === undefined ? {} : { onReply }),
      });
      return readSent(name, content, called);
    },
  };
}

function readSent<Name extends WriteOperation>(name: Name, content: CallContent, called: Called): Sent<Name> {
  const { attempts } = called;
  switch (called.state) {
    case "answered": {
      const { status } = called;
      const reply = readResourceReply(name, called.value);
      if (reply === undefined)
        return ambiguous("protocol", "the reply does not have the documented form", { status, attempts });
      if (!isSameResource(content.body, reply.data)) {
        return ambiguous("mismatch", "the reply is about another resource", { status, attempts });
      }
      return { state: "applied", status, ...reply, attempts };
    }
    case "refused":
      return { state: "refused", ...called.refusal, attempts };
    case "ambiguous":
      return { state: "ambiguous", reason: called.ambiguity, status: called.status, cause: called.cause, attempts };
    case "not-sent":
      return called;
  }
}

function ambiguous(
  reason: Ambiguity,
  message: string,
  { status, attempts }: { readonly status: number; readonly attempts: number },
): {
  readonly state: "ambiguous";
  readonly reason: Ambiguity;
  readonly status: number;
  readonly cause: Error;
  readonly attempts: number;
} {
  return { state: "ambiguous", reason, status, cause: new Error(message), attempts };
}
