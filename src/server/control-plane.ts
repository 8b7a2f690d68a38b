import type { Server } from "node:http";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { SecureContextOptions } from "node:tls";
import type { Secret } from "../contract/secret.ts";
import { createByteBudget } from "../http/byte-budget.ts";
import type { Readiness } from "../http/health.ts";
import { isLoopback } from "../http/loopback.ts";
import { createRateLimit, type RateLimit } from "../http/rate-limit.ts";
import { createHttpServer, listen } from "../http/server.ts";
import { certificateExpiry, readTls, renewTls, type TlsFiles } from "../http/tls.ts";
import { holdExclusiveLock } from "../store/lock-file.ts";
import { makeFolder } from "../store/make-folder.ts";
import { StoreError, type StoreErrorCode, storeErrorCode } from "../store/store-error.ts";
import { registerAdminToken } from "./auth/admin-token/register.ts";
import { authenticateUser } from "./auth/authenticate.ts";
import type { Context } from "./context.ts";
import { announceEndpoint } from "./endpoint-file.ts";
import { addOperationRoutes, operationNames } from "./http/routes.ts";
import { STORAGE_FULL, STORAGE_UNAVAILABLE, storageHttpError } from "./http/storage-http-error.ts";
import { createTrustedCaller } from "./http/trusted-caller.ts";
import { keepPresence } from "./jobs/presence.ts";
import { RecurringTask } from "./jobs/recurring-task.ts";
import { addServerMetrics, createWriteDurations, type WriteDurations } from "./metrics/server-metrics.ts";
import { openContext } from "./open-context.ts";
import type { ControlPlaneOptions } from "./options.ts";
import { addReference } from "./reference/routes.ts";
import { resources } from "./resources/index.ts";
import { revokeTokens } from "./resources/personal-access-token/revoke-subject-tokens.ts";
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

/** Starts a control plane; resolves when it listens. */
export async function createControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  // Resources are released in reverse order, on failure and on close.
  await using stack = new AsyncDisposableStack();
  const folder = resolve(options.data);
  await makeFolder(folder);
  stack.use(lockFolder(folder));
  const writes = createWriteDurations();
  const onWrite = (milliseconds: number): void => writes.observe(milliseconds / 1000);
  const context = await openContext(options, folder, { stack, onWrite });
  const server = context.newId();
  const { adminToken: given, newAdminToken: isNew = false } = options;
  const adminToken = await registerAdminToken(context, { server, given, isNew });
  stack.use(keepPresence(context, server));
  await replaceTokens(options, context);
  if (options.snapshot !== undefined) await importSnapshot(options.snapshot, context);
  if (options.seed !== undefined) await seed(options.seed, resources, context);
  context.scheduleAdvance(context.now());
  const url = await serveHttp(options, context, { stack, writes });
  stack.use(await announceEndpoint(folder, url));
  options.signal?.throwIfAborted();
  const resourcesInUse = stack.move();
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= resourcesInUse.disposeAsync();
    return closing;
  };
  options.signal?.addEventListener(
    "abort",
    () => void close().catch((error: unknown) => options.log.error({ err: error }, "closing failed")),
    { once: true },
  );
  return { url, adminToken, close, [Symbol.asyncDispose]: close };
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
  for (const what of await copySnapshot(snapshot, resources, context)) context.log.warn({ what }, "not copied");
}

async function serveHttp(
  options: ControlPlaneOptions,
  context: Context,
  { stack, writes }: { readonly stack: AsyncDisposableStack; readonly writes: WriteDurations },
): Promise<string> {
  const { host = "127.0.0.1", port = 0, documentedOnly = false, rateLimit = 0, drainSeconds = 0, tls, log } = options;
  const { ending = new AbortController().signal } = options;
  const draining = new AbortController();
  const authenticators = [authenticateUser, ...resources.flatMap(({ authenticate = [] }) => authenticate)];
  let certificate = tls === undefined ? null : await readCertificate(tls, context);
  const app = createHttpServer({
    log,
    readiness: () => readiness(context),
    metrics: {
      ...(options.version === undefined ? {} : { version: options.version }),
      isTrusted: createTrustedCaller(context, authenticators, host),
      add: (registries) =>
        addServerMetrics(registries, writes, {
          context,
          gauges: resources.flatMap(({ gauges = [] }) => gauges),
          readiness: () => readiness(context),
          certificateExpiry: () => certificate && certificateExpiry(certificate),
        }),
    },
    explain: storageHttpError,
    operations: operationNames(),
    draining: draining.signal,
    ending,
    ...(certificate === null ? {} : { tls: certificate }),
  });
  stack.defer(() => app.close());
  // Load balancers need some time to notice that this server is not ready any more.
  stack.defer(async () => {
    draining.abort();
    if (app.server.listening) await pause(drainSeconds * 1000, null, { signal: ending }).catch(() => {});
  });
  const replaced = (read: SecureContextOptions): void => {
    certificate = read;
  };
  if (tls !== undefined) stack.use(followCertificate(app.server, tls, { ...options, replaced }));
  addOperationRoutes(app, {
    context,
    authenticators,
    served: resources.flatMap(({ operations }) => operations),
    documentedOnly,
    bodies: createByteBudget(options.bodyBytes ?? 64 * MIB),
    replies: createByteBudget(options.replyBytes ?? 128 * MIB),
    rateLimit: limitOf(rateLimit),
    // More than a caller with dozens of leases needs.
    keepAliveLimit: limitOf(rateLimit === 0 ? 0 : Math.max(rateLimit, KEEP_ALIVES_PER_SECOND)),
  });
  if (tls === undefined && !isLoopback(host)) {
    log.warn({ host }, "tokens travel in clear: configure a certificate, or run behind a proxy with TLS");
  }
  addReference(app, { documentedOnly, unknownFields: context.unknownFields });
  return listen(app, host, port);
}

// Clients refuse an expired certificate, but one that replaces it is loaded without a restart.
async function readCertificate(files: TlsFiles, { now, log }: Context): Promise<SecureContextOptions> {
  const read = await readTls(files);
  const end = certificateExpiry(read);
  if (end !== null && end <= now()) {
    log.warn({ certificate: files.certificate, expired: new Date(end).toISOString() }, "the certificate has expired");
  }
  return read;
}

const KEEP_ALIVES_PER_SECOND = 20;

function limitOf(perSecond: number): RateLimit | null {
  return perSecond === 0 ? null : createRateLimit(perSecond, () => performance.now());
}

type CertificateOptions = Pick<ControlPlaneOptions, "log" | "fileCheckSeconds"> & {
  readonly replaced: (read: SecureContextOptions) => void;
};

function followCertificate(
  server: Server,
  files: TlsFiles,
  { log, fileCheckSeconds = 5, replaced }: CertificateOptions,
): AsyncDisposable {
  const now = () => Date.now();
  const next = () => now() + fileCheckSeconds * 1000;
  const failed = (error: unknown) => log.error({ err: error }, "reading the certificate again failed");
  const task = new RecurringTask(() => renewTls(server, files).then(replaced).then(next), now, failed);
  task.at(next());
  return { [Symbol.asyncDispose]: () => task.close() };
}

// Readiness probes do not wait longer.
const READY_MS = 2000;

async function readiness({ store }: Context): Promise<Readiness> {
  const slow = pause(READY_MS, "unreachable", { ref: false }) satisfies Promise<StoreErrorCode>;
  const fault = await Promise.race([store.unwritable(), slow]).catch(
    (error: unknown) => storeErrorCode(error) ?? "failed",
  );
  if (fault === null) return { is: "ready" };
  // Reads are still answered, so a load balancer that takes the server out would only make it worse.
  if (fault === "full") return { is: "degraded", reason: STORAGE_FULL };
  return { is: "not-ready", reason: STORAGE_UNAVAILABLE };
}
