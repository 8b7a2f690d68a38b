import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { backoff } from "../clock/backoff.ts";
import type { Stop } from "../clock/clock.ts";
import { errorMessage } from "../contract/error-message.ts";
import type { ConnectOptions } from "./connect.ts";
import { createDispatchers } from "./dispatcher.ts";
import type { Headers } from "./exchange.ts";
import { retryAfter } from "./retry-after.ts";
import { parseAddress } from "./server-address.ts";

/** A request whose body may be larger than the memory. */
export type TransferRequest = {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Path and query. */
  readonly path: string;
  /** The headers of a try, since a signature is valid for a time. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Opens the content again for each try; absent without one. */
  readonly content?: { readonly size: number; readonly open: () => AsyncIterable<Buffer> };
};

/** A whole reply. */
export type TransferReply = { readonly status: number; readonly headers: Headers; readonly body: Buffer };

/** Requests to one address, which are retried while it cannot be reached or is busy. */
export type Transfer = AsyncDisposable & {
  /** Sends a request; fails with a `TransferError` if no try was answered, and as the content does. */
  readonly send: (request: TransferRequest, stop: Stop) => Promise<TransferReply>;
};

/** How an address is reached. */
export type TransferOptions = Pick<
  ConnectOptions,
  "caFile" | "env" | "connectTimeout" | "clock" | "random" | "retryWait" | "requestTimeout" | "userAgent"
> & { readonly concurrency: number };

/** No try of a request was answered: it may be sent again later. */
export class TransferError extends Error {
  override readonly name = "TransferError";
}

const MOST_TRIES = 6;
const BACKOFF = { first: 500, most: 10_000 };
const MOST_REPLY_BYTES = 8 * 1024 * 1024;
// The server is busy, or something between here and there is. 507 is not among them: room does not come back soon.
const BUSY: readonly number[] = [408, 425, 429, 500, 502, 503, 504];

/** Opens the way to an address, without a connection yet. */
export function openTransfer(origin: string, options: TransferOptions): Transfer {
  const address = parseAddress(origin);
  const { clock, random, userAgent, retryWait = 60_000 } = options;
  const dispatchers = createDispatchers({ ...options, address, limit: null, onOpen: () => undefined });
  const sendOnce = async (request: TransferRequest, stop: Stop): Promise<TransferReply> => {
    const content = request.content === undefined ? null : watched(request.content.open());
    const { promise, resolve, reject } = Promise.withResolvers<TransferReply>();
    let controller: Dispatcher.DispatchController | null = null;
    const breakOff = (error: Error): void => {
      reject(error);
      controller?.abort(error);
    };
    const onAbort = (): void => breakOff(abortError(stop.signal));
    let timer: Disposable | undefined;
    const restart = (): void => {
      timer?.[Symbol.dispose]();
      const onSilence = (): void => breakOff(new TransferError("nothing arrived in time"));
      timer = clock.after(options.requestTimeout, onSilence, { ref: false });
    };
    const reply = { status: 0, headers: {} as Headers, parts: [] as Buffer[], size: 0 };
    const body = content === null ? null : Readable.from(noted(content.chunks, restart), { objectMode: false });
    stop.signal.throwIfAborted();
    stop.signal.addEventListener("abort", onAbort);
    restart();
    try {
      dispatchers.shared.dispatcher.dispatch(
        {
          origin: address.origin,
          path: request.path,
          method: request.method,
          headers: {
            "user-agent": userAgent,
            ...(request.content === undefined ? {} : { "content-length": String(request.content.size) }),
            ...request.headers(),
          },
          body,
        },
        {
          onRequestStart: (started) => {
            controller = started;
          },
          onResponseStart: (_, status, headers) => {
            Object.assign(reply, { status, headers });
          },
          onResponseData: (_, part) => {
            restart();
            reply.size += part.length;
            if (reply.size > MOST_REPLY_BYTES) breakOff(new TransferError("the reply is too large"));
            else reply.parts.push(part);
          },
          onResponseEnd: () => {
            const { status, headers, parts } = reply;
            resolve({ status, headers, body: Buffer.concat(parts) });
          },
          onResponseError: (_, cause) => {
            // What is wrong with the content is not wrong with the way.
            const fault = content?.fault() ?? null;
            reject(fault === null ? new TransferError(errorMessage(cause), { cause }) : fault.error);
          },
        },
      );
      return await promise;
    } finally {
      timer?.[Symbol.dispose]();
      stop.signal.removeEventListener("abort", onAbort);
      body?.destroy();
    }
  };
  return {
    send: async (request, stop) => {
      for (let tries = 1; ; tries += 1) {
        const isLast = tries === MOST_TRIES;
        let asked = 0;
        try {
          const reply = await sendOnce(request, stop);
          if (!BUSY.includes(reply.status)) return reply;
          if (isLast) throw new TransferError(`it answered ${reply.status}`);
          asked = retryAfter(reply.headers, { date: clock.now() }) ?? 0;
          if (asked > retryWait) throw new TransferError(`it answered ${reply.status}, and asks for a long pause`);
        } catch (error) {
          if (!(error instanceof TransferError) || isLast) throw error;
        }
        await clock.sleep(Math.max(asked, backoff(tries, BACKOFF, random.next())), stop);
      }
    },
    [Symbol.asyncDispose]: dispatchers.close,
  };
}

function abortError({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("it was asked to end", { cause: reason });
}

// An error of the content is told apart from those of the connection, which it breaks too.
function watched(chunks: AsyncIterable<Buffer>) {
  let fault: { readonly error: unknown } | null = null;
  return {
    fault: () => fault,
    chunks: (async function* () {
      try {
        yield* chunks;
      } catch (error) {
        fault = { error };
        throw error;
      }
    })(),
  };
}

async function* noted(chunks: AsyncIterable<Buffer>, onChunk: () => void): AsyncGenerator<Buffer, void, undefined> {
  for await (const chunk of chunks) {
    onChunk();
    yield chunk;
  }
}
