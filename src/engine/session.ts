import { type LiveCache, liveCacheIn } from "../cache/live-facts-cache.ts";
import { type ConnectOptions, connect } from "../client/connect.ts";
import type { Reader } from "../client/reader.ts";
import type { RecordedRequests } from "../client/recorded-requests.ts";
import type { RouteProbe } from "../client/route-probe.ts";
import { ServerCapabilities } from "../client/server-capabilities.ts";
import type { Writer } from "../client/writer.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Identity } from "../core/manifest.ts";
import type { Ledger, ReceiptHead } from "../state/ledger.ts";
import type { OnForgotten, State } from "../state/state.ts";
import { type KnownDigests, knownDigests } from "./model-files/known-digests.ts";
import { type SecretResolution, type SecretValues, secretValues } from "./secrets/secret-values.ts";
import type { ChosenSink, Sink } from "./token-sink.ts";
import { type OpenStorage, storageOpener } from "./upload/open-storage.ts";

/** How a control plane is read, and what is known of it. */
export type ReadAccess = {
  /** Name of the server in reports and in the ledger: its address, or `embedded`. */
  readonly server: string;
  readonly reader: Reader;
  readonly probeRoute: RouteProbe;
  readonly capabilities: ServerCapabilities;
  /** What is known of the files of model versions on this machine. */
  readonly fileDigests: KnownDigests;
  /** The values that manifests name by reference. */
  readonly values: SecretValues;
};

/** A connection to one server, with its ledger and the facts known about it. */
export type ServerSession = ReadAccess & {
  readonly writer: Writer;
  readonly requests: RecordedRequests;
  readonly ledger: Ledger;
  /** The control plane's current time, in epoch milliseconds; null until a reply has carried it. */
  readonly serverTime: () => number | null;
  readonly sink: Sink | null;
  /** Opens the storage roots that the control plane answers. */
  readonly openStorage: OpenStorage;
  /** The unsealed part of every receipt in the ledger. */
  readonly heads: () => Promise<ReadonlyMap<Identity, ReceiptHead>>;
  /** The cache of live state between passes. */
  readonly cache: LiveCache | null;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** The session without what writes: what reading and planning are given cannot change a control plane. */
export function readAccessOf(session: ServerSession): ReadAccess {
  const { server, reader, probeRoute, capabilities, fileDigests, values } = session;
  return { server, reader, probeRoute, capabilities, fileDigests, values };
}

/** How to open a session. */
export type SessionPlace = Omit<ConnectOptions, "capabilities" | "server"> & {
  readonly server: { readonly name: string; readonly url: string };
  readonly state: State;
  /** The folder on this machine for sink files. */
  readonly folder: string;
  readonly sink: ChosenSink | null;
  /** Where the values of secrets come from. */
  readonly secrets: SecretResolution;
  /** The folder that relative paths in the settings of a sink are in. */
  readonly cwd: string;
  /** Whether the operator has configured that `postModelVersion` registers model versions. */
  readonly registersModels: boolean;
  /** Identifies this build of the program, since another build may parse the same bytes differently. */
  readonly build?: string;
  readonly onForgotten?: OnForgotten;
  /** Whether live state is cached between passes. @default true */
  readonly caches?: boolean;
};

/** Opens the ledger and the connection; sends no request. */
export async function openSession(options: SessionPlace): Promise<ServerSession> {
  const { server, state, registersModels, clock } = options;
  const ledger = await state.ledger(server.name);
  const knowledge = { store: ledger, registersByConfig: registersModels, clock };
  const capabilities = new ServerCapabilities(await ledger.facts(), knowledge);
  const connection = connect({ ...options, server: server.url, capabilities });
  return {
    server: server.name,
    reader: connection.reader,
    writer: connection.writer,
    probeRoute: connection.probeRoute,
    requests: connection.requests,
    ledger,
    capabilities,
    values: secretValues(options.secrets, options),
    serverTime: connection.serverTime,
    sink: openSink(options),
    openStorage: storageOpener({ ...options, server: server.url }),
    heads: ledger.heads,
    cache: (options.caches ?? true) ? liveCacheOf(options) : null,
    fileDigests: (options.caches ?? true) ? fileDigestsOf(options) : knownDigests(null, null),
    [Symbol.asyncDispose]: async () => {
      await connection[Symbol.asyncDispose]();
      await capabilities.save();
    },
  };
}

function openSink({ sink, server, secrets: { sources }, ...place }: SessionPlace): Sink | null {
  if (sink === null) return null;
  const { type, settings } = sink;
  try {
    // The values of other secrets are not for a program that stores tokens.
    const hidden = new Set(sources.flatMap(({ env }) => env ?? []));
    const env = Object.fromEntries(Object.entries(place.env).filter(([name]) => !hidden.has(name)));
    return type.open({ ...place, env, settings, server: nameOnDisk(server.name) });
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    // What only reads needs no sink: its settings may name what this machine does not have.
    const refuse = (): Promise<never> => Promise.reject(error);
    return { check: refuse, deliver: refuse };
  }
}

function liveCacheOf({ server, state, build = "", onForgotten = () => undefined }: SessionPlace): LiveCache {
  const content = state.cache(`live-${nameOnDisk(server.name)}`, `live cache of ${server.name} by ${build}`);
  return liveCacheIn(content, state.isWritable ? onForgotten : null);
}

function fileDigestsOf({ state, onForgotten = () => undefined }: SessionPlace): KnownDigests {
  return knownDigests(state.cache("model-files", "digests of model files"), state.isWritable ? onForgotten : null);
}

// `https://host:443/base` becomes `host_443`, the name of the server's token folder.
function nameOnDisk(name: string): string {
  if (!name.includes("://")) return name;
  const { hostname, port, protocol } = new URL(name);
  return `${hostname}_${port || (protocol === "https:" ? "443" : "80")}`;
}
