import type { Secret } from "../contract/secret.ts";
import { createCall, type OnRequest } from "./call.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createRouteCheck } from "./confirm-missing-route.ts";
import { createCredential } from "./credential.ts";
import { createDispatchers } from "./dispatcher.ts";
import { createFirstContact } from "./first-contact.ts";
import { type Capabilities, type CapabilityStore, createCapabilities } from "./learned-capabilities.ts";
import type { Environment } from "./proxy-from-environment.ts";
import { type ClientLog, createReachability } from "./reachability.ts";
import { createReader, type Reader } from "./reader.ts";
import { createRouteProbe, type RouteProbe } from "./route-probe.ts";
import { parseAddress } from "./server-address.ts";
import { createServerClock } from "./server-clock.ts";
import { createServerPause } from "./server-pause.ts";
import { createWaitNotices } from "./wait-notice.ts";
import { createWriter, type Writer } from "./writer.ts";

/** How to talk to one control plane. */
export type ConnectOptions = {
  /** `http://HOST:PORT` or `https://HOST`, with a path in front where there is one. */
  readonly server: string;
  /** Reads the token from where it is kept; called again when the server stops taking the last one. */
  readonly token: () => Secret;
  /** Connections at most, and so requests in flight. */
  readonly concurrency: number;
  /** Milliseconds for one request, from its first byte to the last of its reply. */
  readonly requestTimeout: number;
  /** Milliseconds for the first contact, and for each connection. */
  readonly connectTimeout: number;
  readonly caFile?: string;
  /** Where proxies are named: `process.env` as a rule. */
  readonly env: Environment;
  readonly userAgent: string;
  /** Milliseconds that the server may ask to wait before a request is made again; 60,000 unless told otherwise. */
  readonly retryWait?: number;
  /** Told of each wait that takes longer than five seconds: for what, and until when. */
  readonly onWait?: (text: string) => void;
  /** Told of each request, after its reply. */
  readonly onRequest?: OnRequest;
  /** Ends the waits that the server asked for. */
  readonly stopping?: AbortSignal;
  /** Ends every call, whatever its own signal says. */
  readonly signal: AbortSignal;
  readonly log?: ClientLog;
  /** Keeps what is learned of the server between runs. */
  readonly serverFacts?: CapabilityStore;
  readonly clock?: Clock;
  /** Numbers within 0 … 1, for the spread of repetitions. */
  readonly random?: () => number;
};

/** A control plane, by what may be done with it: whoever gets only the reader cannot write. */
export type Connection = {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly probeRoute: RouteProbe;
  readonly capabilities: Capabilities;
  /** What time it is for the control plane, in epoch milliseconds; null while its replies have not said. */
  readonly serverTime: () => number | null;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const RETRY_WAIT = 60_000;

/** Prepares a connection; nothing is sent before the first call. */
export function connect(options: ConnectOptions): Connection {
  const { server, clock = systemClock, random = Math.random, signal } = options;
  const address = parseAddress(server);
  const dispatchers = createDispatchers({ ...options, address });
  const capabilities = createCapabilities(options.serverFacts);
  const serverClock = createServerClock(clock);
  const line = {
    origin: address.origin,
    base: address.base,
    userAgent: options.userAgent,
    requestTimeout: options.requestTimeout,
    dispatchers,
    credential: createCredential(options.token),
    clock,
  };
  const call = createCall({
    ...line,
    capabilities,
    isMissing: createRouteCheck(line),
    serverPause: createServerPause(clock),
    firstContact: createFirstContact(address),
    reach: createReachability(clock, { ...options, server: address.origin }),
    serverClock,
    random,
    retryWait: options.retryWait ?? RETRY_WAIT,
    waitNotice: createWaitNotices(clock, options.onWait ?? (() => undefined)),
    stopping: options.stopping ?? signal,
    signal,
    ...(options.log === undefined ? {} : { log: options.log }),
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
  });
  return {
    origin: address.origin,
    reader: createReader(call, address.origin),
    writer: createWriter(call, capabilities),
    probeRoute: createRouteProbe(call, address.origin),
    capabilities,
    serverTime: serverClock.now,
    [Symbol.asyncDispose]: dispatchers.close,
  };
}
