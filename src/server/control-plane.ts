import { join, resolve } from "node:path";
import type { SecureContextOptions } from "node:tls";
import type { FastifyInstance } from "fastify";
import type { Histogram } from "prom-client";
import type { Clock } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import { stagedFileOperations } from "../contract/staged-files.ts";
import { setCaller } from "../http/access-log.ts";
import { createByteBudget } from "../http/byte-budget.ts";
import type { Readiness } from "../http/health.ts";
import { isLoopback, isSentInClear } from "../http/loopback.ts";
import { createRateLimit, type RateLimit } from "../http/rate-limit.ts";
import { createHttpServer, listen } from "../http/server.ts";
import { certificateExpiry } from "../http/tls.ts";
import { holdExclusiveLock } from "../store/lock-file.ts";
import { makeFolder } from "../store/make-folder.ts";
import { StoreError, type StoreErrorCode, storeErrorCode } from "../store/store-error.ts";
import { registerAdminToken } from "./auth/admin-token/register.ts";
import { adminTokenFile } from "./auth/admin-token/token-file.ts";
import { authenticateUser } from "./auth/authenticate.ts";
import { createCallers, isTrusted } from "./auth/identify-caller.ts";
import type { Context } from "./context.ts";
import { migrations, serverMigrations } from "./database/migrations.ts";
import { announceEndpoint } from "./endpoint-file.ts";
import { openCertificate } from "./http/follow-certificate.ts";
import { addOperationRoutes, type OperationRouting, operationNames } from "./http/operation-routes.ts";
import { STORAGE_FULL, STORAGE_UNAVAILABLE, storageHttpError } from "./http/storage-http-error.ts";
import { followStorage } from "./jobs/follow-storage.ts";
import { followTokens } from "./jobs/follow-tokens.ts";
import { keepPresence } from "./jobs/presence.ts";
import { addServerMetrics, createWriteDurations } from "./metrics.ts";
import { openContext } from "./open-context.ts";
import type { ControlPlaneOptions } from "./options.ts";
import { addReference } from "./reference.ts";
import type { ResourceGauge } from "./resource.ts";
import { resources } from "./resources/index.ts";
import { revokeTokens } from "./resources/personal-access-token/revoke-subject-tokens.ts";
import { isServedRoot } from "./resources/staged-artifact/artifact-storage.ts";
import { addStagedFileRoutes } from "./resources/staged-artifact/file-routes.ts";
import { resumeRollouts } from "./rollouts/advance-rollouts.ts";
import { seed } from "./seed/seed.ts";
import { copySnapshot } from "./snapshot/copy-snapshot.ts";
import type { Snapshot } from "./snapshot/snapshot-part.ts";

export type { ControlPlaneOptions } from "./options.ts";

/** A running control plane. */
export type ControlPlane = AsyncDisposable & {
  readonly url: string;
  readonly adminToken: Secret;
  /** Finishes requests in flight and releases port, files and lock; may be called again. */
  close(): Promise<void>;
};

/** A control plane whose requests are answered, and that does not listen yet. */
export type AssembledControlPlane = {
  readonly app: FastifyInstance;
  readonly adminToken: Secret;
  readonly context: Context;
};

/** Opens the data of a control plane, starts its background jobs, and adds its routes; the stack ends all of it. */
export async function assembleControlPlane(
  options: ControlPlaneOptions,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<AssembledControlPlane> {
  const writes = createWriteDurations();
  const onWrite = (milliseconds: number): void => writes.observe(milliseconds / 1000);
  const context = await openContext(options, folder, { stack, onWrite });
  const server = context.newId();
  const { adminToken: given, newAdminToken: isNew = false } = options;
  const adminToken = await registerAdminToken(context, { server, given, isNew });
  stack.use(keepPresence(context, server));
  await replaceTokens(options, context);
  stack.use(await followTokens(context));
  if (options.snapshot !== undefined) await importSnapshot(options.snapshot, context);
  if (options.seed !== undefined) await seed(options.seed, resources, context);
  await resumeRollouts(context);
  context.scheduleAdvance(context.clock.now());
  return { app: await createApp(options, context, { stack, writes }), adminToken, context };
}

/** Starts a control plane; resolves when it listens. */
export async function createControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  // Resources are released in reverse order, on failure and on close.
  await using stack = new AsyncDisposableStack();
  const folder = resolve(options.data);
  await makeFolder(folder);
  stack.use(lockFolder(folder));
  const { app, adminToken, context } = await assembleControlPlane(options, folder, stack);
  const url = await listen(app, options.host ?? LOOPBACK, options.port ?? 0);
  stack.use(await announceEndpoint(folder, url));
  logStart(options, context, { folder, url });
  options.signal?.throwIfAborted();
  const resourcesInUse = stack.move();
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= resourcesInUse.disposeAsync();
    return closing;
  };
  options.signal?.addEventListener(
    "abort",
    () =>
      void close().catch((error: unknown) =>
        options.log.error({ event: "closing-failed", err: error }, "closing failed"),
      ),
    { once: true },
  );
  return { url, adminToken, close, [Symbol.asyncDispose]: close };
}

/** What `/version` tells callers with a token. */
function versionOf({ build, documentedOnly = false }: ControlPlaneOptions, { store, rollouts }: Context) {
  const { version = null, commit = null } = build ?? {};
  return {
    version,
    commit,
    node: process.version.slice(1),
    database: store.isShared ? "postgresql" : "sqlite",
    schema: newestSchema(store),
    extensions: !documentedOnly,
    rollouts: rollouts.programs === undefined ? "simulated" : "program",
  };
}

function newestSchema({ isShared }: Context["store"]): string | undefined {
  return Object.keys(isShared ? serverMigrations : migrations)
    .toSorted()
    .at(-1);
}

function logStart(
  { adminToken, build, tls, rolloutProgram, startedWith }: ControlPlaneOptions,
  { store, keys, log }: Context,
  { folder, url }: { readonly folder: string; readonly url: string },
): void {
  const place = {
    url,
    docs: `${url}/docs`,
    data: folder,
    adminToken: adminToken === undefined ? adminTokenFile(folder) : "HOLDFAST_ADMIN_TOKEN",
    database: store.isShared ? "postgresql" : "sqlite",
    schema: newestSchema(store),
    keys: keys().all.map(({ version }) => version),
    tls: tls !== undefined,
    rollouts: rolloutProgram === undefined ? "simulated" : rolloutProgram.path,
  };
  log.info({ event: "started", ...build, node: process.version, ...place, flags: startedWith ?? {} }, "started");
  log.info({ event: "ready" }, "ready");
}

const MIB = 1024 * 1024;

function lockFolder(folder: string): AsyncDisposable {
  const lock = holdExclusiveLock(join(folder, "lock.db"));
  if (lock === null) throw new StoreError("locked", `${folder} is in use by another control plane`);
  return lock;
}

async function replaceTokens({ revoke = [], renewSigningKey }: ControlPlaneOptions, context: Context): Promise<void> {
  if (renewSigningKey === true) await context.signingKeys.renew("now");
  await revokeTokens(revoke, context);
}

/** Copies a snapshot, and logs what could not be copied. */
async function importSnapshot(snapshot: Snapshot, context: Context): Promise<void> {
  for (const what of await copySnapshot(snapshot, resources, context))
    context.log.warn({ event: "not-copied", what }, "not copied");
}

const LOOPBACK = "127.0.0.1";

async function createApp(
  options: ControlPlaneOptions,
  context: Context,
  { stack, writes }: { readonly stack: AsyncDisposableStack; readonly writes: Histogram },
): Promise<FastifyInstance> {
  const { host = LOOPBACK, documentedOnly = false, rateLimit = 0, drainSeconds = 0, tls, log, clock, random } = options;
  const { ending = new AbortController().signal } = options;
  const draining = new AbortController();
  const callers = createCallers(context, [
    authenticateUser,
    ...resources.flatMap(({ authenticate = [] }) => authenticate),
  ]);
  const storage = stack.use(followStorage((onError) => readiness(context, onError), context));
  const certificate = tls === undefined ? null : await openCertificate(tls, context, options.fileCheckSeconds);
  const gauges = [
    ...resources.flatMap(({ gauges: own = [] }) => own),
    ...(certificate === null ? [] : [certificateGauge(certificate.current)]),
  ];
  const app = createHttpServer({
    log,
    requestLevel: "info",
    clock,
    random,
    readiness: () => readiness(context),
    metrics: {
      ...(options.build === undefined ? {} : { build: options.build }),
      isTrusted: (request) => isTrusted(request, callers, host),
      add: (registries) => addServerMetrics(registries, writes, gauges, () => readiness(context), context),
    },
    explain: (error) => {
      storage.failed(error);
      return storageHttpError(error);
    },
    operations: [...operationNames(), ...Object.keys(stagedFileOperations)],
    takesFiles: !documentedOnly && isServedRoot(options.artifactRoot),
    draining: draining.signal,
    ending,
    ...(certificate === null ? {} : { tls: certificate.current() }),
  });
  stack.defer(async () => {
    const wasListening = app.server.listening;
    await app.close();
    if (wasListening) log.info({ event: "drained" }, "drained: the requests in progress have ended");
  });
  // Load balancers need some time to notice that this server is not ready any more.
  stack.defer(async () => {
    draining.abort();
    if (app.server.listening) await clock.sleep(drainSeconds * 1000, { signal: ending }).catch(() => {});
  });
  if (certificate !== null) stack.use(certificate.follow(app.server));
  const routing: OperationRouting = {
    context,
    callers,
    bodies: createByteBudget(options.bodyBytes ?? 64 * MIB),
    replies: createByteBudget(options.replyBytes ?? 128 * MIB),
    rateLimit: limitOf(rateLimit, clock),
    // More than a caller with dozens of leases needs.
    keepAliveLimit: limitOf(rateLimit === 0 ? 0 : Math.max(rateLimit, KEEP_ALIVES_PER_SECOND), clock),
  };
  const served = resources.flatMap(({ operations }) => operations);
  addOperationRoutes(app, served, documentedOnly, routing);
  if (!documentedOnly) addStagedFileRoutes(app, routing);
  if (tls === undefined && !isLoopback(host)) {
    log.warn(
      { event: "clear-text", host },
      "tokens travel in clear: configure a certificate, or run behind a proxy with TLS",
    );
  }
  if (options.artifactRoot !== undefined && isSentInClear(options.artifactRoot)) {
    log.warn(
      { event: "clear-text", host: new URL(options.artifactRoot).host },
      "staged files and their signed addresses travel in clear: give an https:// address as the artifact root",
    );
  }
  addReference(app, documentedOnly, context);
  app.get("/version", async (request) => {
    const { name } = await callers.callerOf(request.raw);
    setCaller(request, name);
    return versionOf(options, context);
  });
  return app;
}

function certificateGauge(current: () => SecureContextOptions): ResourceGauge {
  return {
    name: "holdfast_certificate_expiry_timestamp_seconds",
    help: "When the TLS certificate in use expires.",
    shownTo: "trusted",
    read: async () => (certificateExpiry(current()) ?? 0) / 1000,
  };
}

const KEEP_ALIVES_PER_SECOND = 20;

function limitOf(perSecond: number, { monotonic }: Clock): RateLimit | null {
  return perSecond === 0 ? null : createRateLimit(perSecond, monotonic);
}

// Readiness probes do not wait longer.
const READY_MS = 2000;

async function readiness({ store, clock }: Context, onError?: (error: unknown) => void): Promise<Readiness> {
  const slow = clock.sleep(READY_MS, { ref: false }).then((): StoreErrorCode => "unreachable");
  const fault = await Promise.race([store.unwritable(), slow]).catch((error: unknown) => {
    onError?.(error);
    return storeErrorCode(error) ?? "failed";
  });
  if (fault === null) return { is: "ready" };
  // Reads are still answered, so a load balancer that takes the server out would only make it worse.
  if (fault === "full") return { is: "degraded", reason: STORAGE_FULL };
  return { is: "not-ready", reason: STORAGE_UNAVAILABLE };
}
