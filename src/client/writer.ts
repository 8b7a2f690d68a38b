import type { Buffer } from "node:buffer";
import { type OperationName, operation, type Replies, type WriteOperation } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import type { Call, Called } from "./call.ts";
import type { Ambiguity } from "./call-outcome.ts";
import type { CallContent } from "./compose-request.ts";
import type { Capabilities } from "./learned-capabilities.ts";
import { readResourceReply } from "./read-envelope.ts";
import type { Refusal } from "./refusal.ts";
import { isSameResource } from "./same-resource.ts";

/** The result of a write. */
export type Sent<Name extends OperationName = WriteOperation> = {
  /** How often the request was sent. */
  readonly attempts: number;
} & (
  | {
      readonly state: "applied";
      readonly status: number;
      readonly data: Replies[Name];
      /** The one-time token, where the reply carried one. */
      readonly token: Secret | null;
      /** Only `putVirtualAccount` tells whether it made the token. */
      readonly created: boolean | null;
    }
  /** The server said no; nothing was changed. */
  | ({ readonly state: "refused" } & Refusal)
  /** It may have had its effect: look before anything is sent again. */
  | { readonly state: "ambiguous"; readonly reason: Ambiguity; readonly status: number | null; readonly cause: unknown }
  /** No byte left this machine; or it was stopped while it waited, after tries that had no effect. */
  | { readonly state: "not-sent"; readonly reason: "unreachable" | "aborted"; readonly cause: unknown }
);

/** The content of a write, and callbacks for its progress. */
export type WriteContent = CallContent & {
  /** Called right before the first byte of each try. */
  readonly onSent?: () => void;
  /** Awaited with the reply's bytes, or the part that arrived, before anything looks at them: one-time tokens go to disk here. */
  readonly onReply?: (bytes: Buffer) => Promise<void>;
};

/** Everything that changes a control plane. */
export type Writer = {
  /** Sends one write; whatever happens on the way is an answer, not an exception. */
  readonly send: <Name extends WriteOperation>(
    name: Name,
    content: WriteContent,
    stop: { readonly signal: AbortSignal },
  ) => Promise<Sent<Name>>;
};

/** A writer over the caller; it repeats only what the retry class of the operation allows. */
export function createWriter(call: Call, { honoursKeys }: Pick<Capabilities, "honoursKeys">): Writer {
  return {
    send: async (name, { onSent, onReply, ...content }, { signal }) => {
      const { retry } = operation(name);
      const guarded = retry === "once" || retry === "token";
      const isMadeOnce = () => content.idempotencyKey !== undefined && honoursKeys();
      const called = await call(name, content, {
        repeats: () => retry === "repeat" || (guarded && isMadeOnce()),
        // A used connection may break under a request that has arrived; its reply can be had again only under its key.
        fresh: guarded && !isMadeOnce(),
        signal,
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
        return ambiguous("protocol", "the reply is not the documented one", { status, attempts });
      if (!isSameResource(content.body, reply.data)) {
        return ambiguous("mismatch", "the reply tells of another resource", { status, attempts });
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
