import { Buffer } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import type { JsonObject } from "../../src/contract/json.ts";
import { Secret } from "../../src/contract/secret.ts";
import { generateKey } from "../../src/seal/seal-key.ts";
import { assembleControlPlane } from "../../src/server/control-plane.ts";
import { migrations } from "../../src/server/database/migrations.ts";
import type { Tables } from "../../src/server/database/tables.ts";
import type { SeedDocument } from "../../src/server/options.ts";
import { type MemoryDatabase, memoryDatabase, memoryStore } from "./memory-store.ts";
import type { SentReply, SentRequest } from "./network.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";

/** The token of the administrator, with which the simulation sets up its world. */
export const ADMIN_TOKEN = "simulation-admin-token-0123456789abcdef";

/** The data of a control plane, which outlive its processes. */
export type ControlPlaneData = {
  readonly database: MemoryDatabase<Tables>;
  readonly key: Secret;
  /** The token of the daemons, where they do not have that of the administrator. */
  token: string | null;
};

/** Creates the data of a control plane. */
export async function controlPlaneData(): Promise<ControlPlaneData> {
  return { database: await memoryDatabase<Tables>(migrations), key: generateKey().bytes, token: null };
}

/** A running control plane, without sockets. */
export type SimulatedControlPlane = {
  readonly process: Process;
  /** Handles a request; rejects where the process is killed before it has answered. */
  readonly handle: (request: SentRequest) => Promise<SentReply>;
  /** Breaks the connections of all requests that are being handled, as the end of the process does. */
  readonly cut: () => void;
};

const log = pino({ level: "silent" });

/** Starts the real control plane on its data. */
export async function startControlPlane(
  data: ControlPlaneData,
  {
    process,
    scheduler,
    documentedOnly,
    rolloutSeconds,
    seed,
    permissions,
  }: {
    readonly process: Process;
    readonly scheduler: Scheduler;
    readonly documentedOnly: boolean;
    readonly rolloutSeconds: number;
    readonly seed: readonly SeedDocument[];
    /** What the daemons may; null where they have the token of the administrator. */
    readonly permissions: readonly JsonObject[] | null;
  },
): Promise<SimulatedControlPlane> {
  const { app } = await assembleControlPlane(
    {
      clock: process.clock,
      random: process.random,
      data: "/simulation",
      store: memoryStore(data.database, process),
      serverKey: data.key,
      adminToken: new Secret(ADMIN_TOKEN),
      documentedOnly,
      seed,
      rolloutSeconds,
      log,
    },
    "/simulation",
    new AsyncDisposableStack(),
  );
  await app.ready();
  if (permissions !== null) data.token ??= await issueToken(app, permissions);
  process.started();
  const open = new Set<(reason: Error) => void>();
  const answer = async ({ method, path, headers, body }: SentRequest): Promise<SentReply> => {
    // The body of an injected request is handed over in later turns of the event loop.
    void scheduler.turn().then(scheduler.turn).then(scheduler.turn);
    const answered = await app.inject({
      method: method as "GET",
      url: path,
      headers: { ...headers },
      ...(body === null ? {} : { payload: Buffer.from(body) }),
    });
    const sent: { [name: string]: string } = {};
    for (const [name, value] of Object.entries(answered.headers)) if (value !== undefined) sent[name] = String(value);
    // As the server of Node does.
    sent.date = new Date(process.clock.now()).toUTCString();
    return { status: answered.statusCode, headers: sent, body: answered.payload };
  };
  return {
    process,
    handle: (request) => {
      const { promise, resolve, reject } = Promise.withResolvers<SentReply>();
      open.add(reject);
      answer(request)
        .then(resolve, reject)
        .finally(() => open.delete(reject));
      return promise;
    },
    cut: () => {
      for (const reject of open) reject(new Error("the process was killed"));
      open.clear();
    },
  };
}

async function issueToken(app: FastifyInstance, permissions: readonly JsonObject[]): Promise<string> {
  const { statusCode, body } = await app.inject({
    method: "PUT",
    url: "/api/svc/v1/virtual-accounts",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    payload: { manifest: { type: "virtual-account", name: "daemons", permissions } },
  });
  if (statusCode !== 200) throw new TypeError(`the daemons get no token: ${body}`);
  return JSON.parse(body).token;
}
