import { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";

/** One request, ready to be sent. */
export type Request = {
  readonly origin: string;
  readonly method: "GET" | "PUT" | "POST";
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
};

/** Headers of a reply, names in lower case. */
export type Headers = { readonly [name: string]: string | readonly string[] | undefined };

/** What became of one request; only `answered` has the whole reply. */
export type Exchange =
  | { readonly state: "answered"; readonly status: number; readonly headers: Headers; readonly body: Buffer }
  /** No byte of it left this machine. */
  | { readonly state: "not-sent"; readonly cause: unknown; readonly aborted: boolean }
  /** It may have arrived, and it may have had its effect. */
  | {
      readonly state: "broken";
      readonly reason: "timeout" | "connection-lost" | "oversize" | "aborted";
      readonly cause: unknown;
      readonly status: number | null;
      /** What had come of the body by then. */
      readonly partial: Buffer;
    };

/** Bounds of one request. */
export type Bounds = {
  /** Milliseconds from the first byte sent to the last one received. */
  readonly timeout: number;
  /** Bytes of a body as it comes over the wire. */
  readonly cap: number;
  /** Whether the connection is closed afterwards. */
  readonly reset: boolean;
  /** Called once, right before the first byte is sent. */
  readonly onSent?: () => void;
  /** Any of them ends it. */
  readonly signals: readonly AbortSignal[];
};

/** Sends one request and collects its reply; never rejects. */
export function exchange(dispatcher: Dispatcher, request: Request, bounds: Bounds): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  let body: Body = startBody(0);
  let status: number | null = null;
  let headers: Headers = {};
  let controller: Dispatcher.DispatchController | null = null;
  let timer: NodeJS.Timeout | undefined;

  const settle = (outcome: Exchange) => {
    clearTimeout(timer);
    for (const signal of bounds.signals) signal.removeEventListener("abort", onAbort);
    resolve(outcome);
  };
  const breakOff = (reason: "timeout" | "connection-lost" | "oversize" | "aborted", cause: unknown) => {
    settle({ state: "broken", reason, cause, status, partial: body.bytes() });
    controller?.abort(cause instanceof Error ? cause : new Error(reason, { cause }));
  };
  const onAbort = () => {
    const cause: unknown = abortedOf(bounds.signals)?.reason;
    if (controller === null) settle({ state: "not-sent", cause, aborted: true });
    else breakOff("aborted", cause);
  };

  const aborted = abortedOf(bounds.signals);
  if (aborted !== null) return Promise.resolve({ state: "not-sent", cause: aborted.reason, aborted: true });
  for (const signal of bounds.signals) signal.addEventListener("abort", onAbort, { once: true });
  dispatcher.dispatch(
    { ...request, reset: bounds.reset },
    {
      onRequestStart: (started) => {
        // Aborted while it queued: nothing has been written yet, and nothing will be.
        // Started once already: it may have arrived, and is not sent again behind our back.
        const ended = abortedOf(bounds.signals);
        if (ended !== null || controller !== null) return started.abort(new Error("aborted", { cause: ended?.reason }));
        controller = started;
        timer = setTimeout(
          () => breakOff("timeout", new Error(`no whole reply within ${bounds.timeout} ms`)),
          bounds.timeout,
        );
        bounds.onSent?.();
      },
      onResponseStart: (_, code, received) => {
        if (code < 200) return;
        status = code;
        headers = received;
        body = startBody(Math.min(Number(received["content-length"]) || 0, bounds.cap));
      },
      onResponseData: (_, chunk) => {
        if (body.add(chunk) > bounds.cap)
          return breakOff("oversize", new Error(`a reply of more than ${bounds.cap} bytes`));
      },
      onResponseEnd: () => {
        if (status !== null) settle({ state: "answered", status, headers, body: body.bytes() });
        else breakOff("connection-lost", new Error("the reply ended before it began"));
      },
      onResponseError: (_, cause) => {
        if (controller === null) settle({ state: "not-sent", cause, aborted: false });
        else breakOff("connection-lost", cause);
      },
    },
  );
  return promise;
}

/** The first of the signals that is aborted; null where none is. */
export function abortedOf(signals: readonly AbortSignal[]): AbortSignal | null {
  return signals.find(({ aborted }) => aborted) ?? null;
}

/** A body as it comes in. */
type Body = {
  /** Takes some more of it, and tells how large it is now. */
  readonly add: (chunk: Buffer) => number;
  readonly bytes: () => Buffer;
};

// Where its length is told beforehand every byte goes to its place: in pieces, a page would be held twice.
function startBody(length: number): Body {
  const whole = Buffer.allocUnsafeSlow(length);
  const more: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk) => {
      const fits = more.length === 0 && size + chunk.length <= whole.length;
      if (fits) chunk.copy(whole, size);
      else more.push(chunk);
      size += chunk.length;
      return size;
    },
    bytes: () => {
      if (more.length === 0) return whole.subarray(0, size);
      const rest = more.reduce((sum, chunk) => sum + chunk.length, 0);
      return Buffer.concat([whole.subarray(0, size - rest), ...more], size);
    },
  };
}
