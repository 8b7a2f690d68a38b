import { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";
import type { OpenDispatchers } from "../../src/client/dispatcher.ts";
import type { Process } from "./process.ts";
import type { Draw, Scheduler } from "./scheduler.ts";

/** A request as the network carries it. */
export type SentRequest = {
  readonly from: string;
  readonly method: string;
  readonly path: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | null;
};

/** A whole reply. */
export type SentReply = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

/** What goes wrong with a request. */
export const networkFaults = [
  "refused connection",
  "lost request",
  "late request",
  "duplicated request",
  "lost reply",
  "late reply",
  "cut reply",
  "bad gateway instead",
  "bad gateway after",
  "wrong reply",
  "wrong reply after",
  "too many requests",
  "server error",
] as const;

/** What goes wrong with a request. */
export type NetworkFault = (typeof networkFaults)[number];

/** Which requests of a process go wrong: after so many, so many, of all, of its writes or of those for its lease. */
export type FaultedRequests = {
  readonly skip: number;
  readonly times: number;
  readonly writes?: boolean;
  readonly leases?: boolean;
};

/** The network between the clients and the control plane. */
export type Network = {
  /** The connections of a process. */
  readonly dispatchersOf: (process: Process) => OpenDispatchers;
  /** Lets the next requests of a process go wrong, after so many that do not. */
  readonly inject: (from: string, fault: NetworkFault, which: FaultedRequests) => void;
  /** Lets what a killed process has sent arrive late, or at once. */
  readonly killed: (from: string) => void;
  /** Ends all faults that have not happened yet. */
  readonly heal: () => void;
};

/** What a control plane that is down answers. */
export type Answer = (request: SentRequest) => Promise<SentReply> | null;

/** How long a packet takes at most, in milliseconds. */
const FAST_MS = 20;

/**
 * Refusals that change nothing and that no key keeps. What repeats a request gives up once it is answered so: no promise is
 * made for a copy of it that arrives later still.
 */
const REFUSED_FOR_NOW: readonly number[] = [429, 503, 507];

type Armed = {
  readonly from: string;
  readonly fault: NetworkFault;
  readonly isMet: (request: SentRequest) => boolean;
  skip: number;
  times: number;
};

/** A request that has not arrived. */
type UnderWay = { readonly from: string; readonly until: number; readonly arrive: () => void; event: Disposable };

/** Creates the network; no packet arrives later than `timeoutMs` after its request was sent. */
export function createNetwork({
  scheduler,
  draw,
  timeoutMs,
  answer,
}: {
  readonly scheduler: Scheduler;
  readonly draw: Draw;
  readonly timeoutMs: number;
  /** Hands a request to the control plane; null where nobody listens. */
  readonly answer: Answer;
}): Network {
  let armed: Armed[] = [];
  const underWay = new Set<UnderWay>();
  const faultOf = (request: SentRequest): NetworkFault | null => {
    for (const one of armed) {
      if (one.from !== request.from || !one.isMet(request)) continue;
      if (one.skip > 0) {
        one.skip -= 1;
        continue;
      }
      one.times -= 1;
      armed = armed.filter(({ times }) => times > 0);
      scheduler.counts.set(one.fault, (scheduler.counts.get(one.fault) ?? 0) + 1);
      scheduler.note(one.fault);
      return one.fault;
    }
    return null;
  };
  const fast = (): number => draw() * FAST_MS;
  const lose = (packet: UnderWay): void => {
    packet.event[Symbol.dispose]();
    underWay.delete(packet);
  };
  const send = (process: Process, dispatch: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void => {
    let isOver = false;
    let isAborted = false;
    const fail = (error: Error): void => {
      if (isOver || !process.isAlive()) return;
      isOver = true;
      handler.onResponseError?.(controller, error);
    };
    const controller = {
      get aborted() {
        return isOver || isAborted;
      },
      get paused() {
        return false;
      },
      get reason() {
        return null;
      },
      rawHeaders: null,
      rawTrailers: null,
      abort: (reason: Error) => {
        // As over a socket, what was aborted ends in a later turn, and nothing more of it is sent or received.
        isAborted = true;
        if (!isOver) queueMicrotask(() => fail(reason));
      },
      pause: () => {},
      resume: () => {},
    } as unknown as Dispatcher.DispatchController;
    const deliver = (kind: string, milliseconds: number, run: () => void): void =>
      void scheduler.after(milliseconds, kind, run);
    deliver("connection", fast(), () => {
      if (!process.passSeam("send")) return;
      const request: SentRequest = {
        from: process.name,
        method: dispatch.method,
        path: dispatch.path,
        headers: dispatch.headers as SentRequest["headers"],
        body: typeof dispatch.body === "string" ? dispatch.body : null,
      };
      const fault = faultOf(request);
      if (fault === "refused connection") return fail(codedError("ECONNREFUSED", "connection refused"));
      handler.onRequestStart?.(controller, {});
      if (controller.aborted) return;
      carry(request, fault, {
        fail: (milliseconds) => deliver("reset", milliseconds, () => fail(codedError("ECONNRESET", "socket hang up"))),
        reply: (reply, milliseconds, size) =>
          deliver("reply", milliseconds, () => {
            if (controller.aborted || !process.passSeam("receive")) return;
            scheduler.note(`${reply.status} ${reply.body.length}`);
            handler.onResponseStart?.(controller, reply.status, reply.headers, "");
            if (controller.aborted) return;
            const body = Buffer.from(reply.body);
            handler.onResponseData?.(controller, body.subarray(0, size ?? body.length));
            if (controller.aborted) return;
            if (size !== undefined) return fail(codedError("ECONNRESET", "other side closed"));
            isOver = true;
            handler.onResponseEnd?.(controller, {});
          }),
      });
      if (isWrite(request)) process.passSeam("write sent");
    });
  };
  const carry = (
    request: SentRequest,
    fault: NetworkFault | null,
    client: {
      readonly fail: (milliseconds: number) => void;
      readonly reply: (reply: SentReply, milliseconds: number, size?: number) => void;
    },
  ): void => {
    scheduler.note(`${request.from} ${request.method} ${request.path}`);
    const sentAt = scheduler.now;
    const left = (): number => Math.max(0, sentAt + timeoutMs - scheduler.now);
    const onReply = (reply: SentReply): void => {
      switch (fault) {
        case "lost reply":
          client.fail(draw() * left());
          return;
        case "late reply":
          client.reply(reply, draw() * 2 * timeoutMs);
          return;
        case "cut reply":
          client.reply(reply, fast(), Math.floor(draw() * reply.body.length));
          return;
        case "bad gateway after":
          client.reply(page(502, "Bad Gateway"), fast());
          return;
        case "wrong reply after":
          client.reply(page(200, "Sign in"), fast());
          return;
        default:
          client.reply(reply, fast());
          return;
      }
    };
    const arrive = (isAnswered: boolean, copy: UnderWay | null): void => {
      const handled = answer(request);
      if (handled === null) {
        if (isAnswered) client.fail(fast());
        return;
      }
      handled.then(
        (reply) => {
          if (copy !== null && REFUSED_FOR_NOW.includes(reply.status)) lose(copy);
          if (isAnswered) onReply(reply);
        },
        () => (isAnswered ? client.fail(fast()) : undefined),
      );
    };
    const deliver = (milliseconds: number, isAnswered: boolean, copy: UnderWay | null = null): UnderWay => {
      const packet: UnderWay = {
        from: request.from,
        until: sentAt + timeoutMs,
        event: scheduler.after(milliseconds, "request", () => packet.arrive()),
        arrive: () => {
          underWay.delete(packet);
          arrive(isAnswered, copy);
        },
      };
      underWay.add(packet);
      return packet;
    };
    switch (fault) {
      case "lost request":
        client.fail(draw() * timeoutMs);
        return;
      case "late request": {
        const milliseconds = draw() * timeoutMs * 0.999;
        // Half of them arrive after the client has lost its connection.
        const isLost = draw() < 0.5;
        if (isLost) client.fail(draw() * milliseconds);
        deliver(milliseconds, !isLost);
        return;
      }
      case "duplicated request":
        deliver(fast(), true, deliver(draw() * timeoutMs * 0.999, false));
        return;
      case "bad gateway instead":
        client.reply(page(502, "Bad Gateway"), fast());
        return;
      case "wrong reply":
        client.reply(page(200, "Sign in"), fast());
        return;
      case "too many requests":
        client.reply({ ...page(429, "Too Many Requests"), headers: { "retry-after": "1" } }, fast());
        return;
      case "server error":
        client.reply(page(500, "Internal Server Error"), fast());
        return;
      default:
        deliver(fast(), true);
        return;
    }
  };
  return {
    dispatchersOf: (process) => () => {
      const dispatcher = {
        dispatch: (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
          send(process, options, handler);
          return true;
        },
      } as unknown as Dispatcher;
      const connections = { dispatcher, limit: null };
      return {
        shared: connections,
        fresh: connections,
        keepAlive: connections,
        speaksTls: async () => false,
        close: async () => {},
      };
    },
    inject: (from, fault, { skip, times, writes = false, leases = false }) => {
      const isMet = leases ? isForLease : writes ? isWrite : () => true;
      armed.push({ from, fault, isMet, skip, times });
    },
    killed: (from) => {
      for (const packet of underWay) {
        if (packet.from !== from || draw() < 0.5) continue;
        packet.event[Symbol.dispose]();
        const left = Math.max(0, packet.until - scheduler.now);
        packet.event = scheduler.after(draw() * left * 0.999, "request", packet.arrive);
      }
    },
    heal: () => {
      armed = [];
    },
  };
}

function isWrite(request: SentRequest): boolean {
  return request.method !== "GET" && !isForLease(request) && request.body?.includes('"dryRun":true') !== true;
}

function isForLease({ path }: SentRequest): boolean {
  return path.includes("/leases/");
}

function page(status: number, text: string): SentReply {
  return { status, headers: { "content-type": "text/html" }, body: `<html><body>${text}</body></html>` };
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
