import { connect as connectTls, getCACertificates } from "node:tls";
import { type Dispatcher, Pool, ProxyAgent } from "undici";
import { HoldfastError } from "../core/errors.ts";
import { readGivenText, whyUnreadable } from "../files/read-given-file.ts";
import { type Environment, proxyFor } from "./proxy-from-environment.ts";
import type { RequestLimit } from "./request-limit.ts";
import type { Address } from "./server-address.ts";

/** How connections to a server are opened. */
export type Route = {
  readonly address: Address;
  readonly concurrency: number;
  /** Milliseconds for one connection, TLS handshake included. */
  readonly connectTimeout: number;
  readonly caFile?: string;
  readonly env: Environment;
  /** What the connections to this server share, in this process or in a fleet; null for no further limit. */
  readonly limit: RequestLimit | null;
  /** Called for each connection that was opened. */
  readonly onOpen: () => void;
};

/** Connections, and the limit of the requests on them. */
export type Connections = { readonly dispatcher: Dispatcher; readonly limit: RequestLimit | null };

/** Connections to one server. */
export type Dispatchers = {
  /** Kept open, and used by many requests. */
  readonly shared: Connections;
  /** New for each request that must not use a stale one. */
  readonly fresh: Connections;
  /** One for requests that must not wait for others. */
  readonly keepAlive: Connections;
  /** Whether what answers at the address speaks TLS. */
  readonly speaksTls: () => Promise<boolean>;
  readonly close: () => Promise<void>;
};

/** Creates the dispatchers of a route without opening a connection. */
export type OpenDispatchers = (route: Route) => Dispatchers;

/** Creates the dispatchers without opening a connection. The environment determines whether a proxy is used. */
export function createDispatchers(route: Route): Dispatchers {
  if (route.env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    throw new HoldfastError("invalid", "NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates", {
      hint: "unset it, and name the server's certificate authority with --ca-file",
    });
  }
  const proxy = proxyFor(route.address, route.env);
  const tls = { ...authorities(route.caFile), rejectUnauthorized: true as const, timeout: route.connectTimeout };
  const { limit } = route;
  const [shared, fresh] = [open(route, proxy, tls), open(route, proxy, tls)];
  const keepAlive = open({ ...route, concurrency: 1 }, proxy, tls);
  return {
    shared: { dispatcher: shared, limit },
    fresh: { dispatcher: fresh, limit },
    keepAlive: { dispatcher: keepAlive, limit: null },
    speaksTls: () => speaksTls(route.address),
    close: async () => {
      await Promise.all([shared, fresh, keepAlive].map((each) => each.destroy()));
    },
  };
}

function open(
  { address, concurrency, connectTimeout, onOpen }: Route,
  proxy: string | null,
  tls: { readonly ca?: string[]; readonly rejectUnauthorized: true; readonly timeout: number },
): Dispatcher {
  // `exchange` enforces the deadline, from the first byte sent to the last one received.
  const common = { connections: concurrency, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, allowH2: false };
  const poolOf = (origin: string | URL, options: object): Pool => new Pool(origin, options).on("connect", onOpen);
  if (proxy === null) return poolOf(address.origin, { ...common, maxHeaderSize: 64 * 1024, connect: tls });
  return new ProxyAgent({
    ...common,
    maxHeaderSize: 64 * 1024,
    uri: proxy,
    requestTls: tls,
    proxyTls: tls,
    factory: poolOf,
    // Without this, a proxy that accepts the connection and never answers would block the request forever.
    clientFactory: (origin, options) => new Pool(origin, { ...options, headersTimeout: connectTimeout }),
  });
}

function authorities(caFile: string | undefined): { ca?: string[] } {
  if (caFile === undefined) return {};
  return { ca: [...getCACertificates("default"), readAuthorities(caFile)] };
}

function readAuthorities(caFile: string): string {
  const read = readText(caFile);
  if (read.includes("-----BEGIN CERTIFICATE-----")) return read;
  throw new HoldfastError("invalid", "the CA file holds no PEM certificate", { hint: "check --ca-file" });
}

function readText(file: string): string {
  try {
    return readGivenText(file);
  } catch (cause) {
    throw new HoldfastError("invalid", `the CA file ${whyUnreadable(cause)}`, { hint: "check --ca-file", cause });
  }
}

/** The time limit for a TLS handshake. */
const HANDSHAKE_MS = 3000;

function speaksTls({ host, port }: Pick<Address, "host" | "port">): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // The certificate is not verified, since no data is sent over this connection.
  const socket = connectTls({ host, port, rejectUnauthorized: false, timeout: HANDSHAKE_MS });
  socket.once("secureConnect", () => resolve(true));
  for (const event of ["error", "timeout", "close"]) socket.once(event, () => resolve(false));
  return promise.finally(() => socket.destroy());
}
