import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Secret } from "../contract/secret.ts";
import { noFacts } from "../core/server-facts.ts";
import { createCall, type OnRequest } from "./call.ts";
import type { WriteRevision } from "./compose-request.ts";
import { createRouteCheck } from "./confirm-missing-route.ts";
import { createCredential } from "./credential.ts";
import { createDispatchers, type OpenDispatchers } from "./dispatcher.ts";
import { createFirstContact } from "./first-contact.ts";
import type { Environment } from "./proxy-from-environment.ts";
import { type ClientLog, createReachability } from "./reachability.ts";
import { createReader, type Reader } from "./reader.ts";
import { type RecordedRequests, recordRequests } from "./recorded-requests.ts";
import type { RequestLimit } from "./request-limit.ts";
import { createRouteProbe, type RouteProbe } from "./route-probe.ts";
import { parseAddress } from "./server-address.ts";
import { ServerCapabilities } from "./server-capabilities.ts";
import { createServerClock } from "./server-clock.ts";
import { createServerPause } from "./server-pause.ts";
import { createWaitNotices, type OnWait } from "./wait-notice.ts";
import { createWriter, type Writer } from "./writer.ts";

/** How to connect to one control plane. */
export type ConnectOptions = {
  /** `http://HOST:PORT` or `https://HOST`, optionally with a base path. */
  readonly server: string;
  /** Reads the token from its source; called again when the server rejects the current one. */
  readonly token: () => Secret;
  /** Renews a token that the server has rejected, before it is read again. @default it is only read again */
  readonly renewToken?: ((refused: Secret) => Promise<void>) | undefined;
  /** The maximum number of connections, and so of requests in flight. */
  readonly concurrency: number;
  /** What all connections to this control plane share. @default no further limit */
  readonly limit?: RequestLimit | null;
  /** Milliseconds for one request, from its first byte to the last of its reply. */
  readonly requestTimeout: number;
  /** Milliseconds for the first contact, and for each connection. */
  readonly connectTimeout: number;
  readonly caFile?: string;
  /** The environment variables that name proxies, usually `process.env`. */
  readonly env: Environment;
  readonly userAgent: string;
  /** The person who asked for the writes that are sent now, which name it. @default nobody */
  readonly actor?: () => string | null;
  /** The commit and pass that the writes belong to that are sent now. @default none */
  readonly revision?: () => WriteRevision | null;
  /** The longest wait in milliseconds that the server may request before a retry. @default 60_000 */
  readonly retryWait?: number;
  /**
   * Whether each answer is returned as the server gave it: none is asked for again, and none ends the connection since no
   * control plane gives it. @default false
   */
  readonly answersAsGiven?: boolean;
  /** Called for each wait longer than five seconds, with the reason and the end of the wait. */
  readonly onWait?: OnWait;
  /** Called after each request. */
  readonly onRequest?: OnRequest;
  /** Ends the waits that the server requested. */
  readonly stopping?: AbortSignal;
  /** Ends every call, in addition to the call's own signal. */
  readonly signal: AbortSignal;
  readonly log?: ClientLog;
  /** What earlier runs learned of the server. @default nothing, and what is learned is forgotten with the connection */
  readonly capabilities?: ServerCapabilities;
  readonly clock: Clock;
  readonly random: Random;
  /** Opens the connections. @default over sockets */
  readonly openDispatchers?: OpenDispatchers;
};

/** A connected control plane. A caller that receives only the reader cannot write. */
export type Connection = {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly probeRoute: RouteProbe;
  readonly requests: RecordedRequests;
  readonly capabilities: ServerCapabilities;
  /** The control plane's time in epoch milliseconds; null until a reply has had a `Date` header. */
  readonly serverTime: () => number | null;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

const RETRY_WAIT = 60_000;

/** Creates a connection; nothing is sent before the first call. */
export function connect(options: ConnectOptions): Connection {
  const { server, clock, random, signal, openDispatchers = createDispatchers, answersAsGiven = false } = options;
  const address = parseAddress(server);
  const reach = createReachability(clock, { ...options, server: address.origin });
  const dispatchers = openDispatchers({ ...options, limit: options.limit ?? null, address, onOpen: reach.opened });
  const capabilities = options.capabilities ?? new ServerCapabilities(noFacts, { clock });
  const serverClock = createServerClock(clock);
  const line = {
    origin: address.origin,
    base: address.base,
    userAgent: options.userAgent,
    actor: options.actor ?? (() => null),
    revision: options.revision ?? (() => null),
    requestTimeout: options.requestTimeout,
    dispatchers,
    credential: createCredential(options.token, options.renewToken),
    clock,
    random,
  };
  const { call, ...requests } = recordRequests(
    createCall({
      ...line,
      capabilities,
      isMissing: createRouteCheck(line),
      serverPause: createServerPause(clock),
      firstContact: createFirstContact(address, dispatchers.speaksTls, { answersAsGiven }),
      reach,
      serverClock,
      retryWait: options.retryWait ?? RETRY_WAIT,
      answersAsGiven,
      waitNotice: createWaitNotices(clock, options.onWait ?? (() => undefined)),
      stopping: options.stopping ?? signal,
      signal,
      ...(options.log === undefined ? {} : { log: options.log }),
      ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
    }),
  );
  return {
    origin: address.origin,
    reader: createReader(call, address.origin),
    writer: createWriter(call, capabilities),
    probeRoute: createRouteProbe(call, address.origin),
    requests,
    capabilities,
    serverTime: serverClock.now,
    [Symbol.asyncDispose]: dispatchers.close,
  };
}
