import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Secret } from "../contract/secret.ts";
import { badRequest, Refusal } from "../http/refusal.ts";
import { createHttpServer, listen } from "../http/server.ts";
import type { Log } from "../log/log.ts";
import { loadKey } from "../seal/key.ts";
import { holdExclusiveLock } from "../store/lock.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { StoreError, storeFault } from "../store/store-error.ts";
import { establishAdmin } from "./admin-token.ts";
import { openArtifactRoot } from "./artifact-root.ts";
import type { Context } from "./context.ts";
import { migrations } from "./data/migrations.ts";
import type { Tables } from "./data/tables.ts";
import { announceEndpoint } from "./endpoint.ts";
import { createIds } from "./identity.ts";
import { authenticators, served } from "./operations/index.ts";
import { addReference } from "./reference/routes.ts";
import { advanceRollouts } from "./rollout/advance.ts";
import type { RolloutDriver } from "./rollout/driver.ts";
import { createEmbeddedDriver } from "./rollout/embedded.ts";
import { Wheel } from "./rollout/wheel.ts";
import { rotateTokens } from "./rotate.ts";
import { addOperations } from "./routes.ts";
import { advanceRuns } from "./runs/advance.ts";
import type { RunDriver } from "./runs/driver.ts";
import { createEmbeddedRuns } from "./runs/embedded.ts";
import { seed } from "./seed/seed.ts";
import { openSigningKeys } from "./signing-keys.ts";

/** What a control plane is started with. */
export type ControlPlaneOptions = {
  /** Folder of its data; made (0700) when absent. */
  readonly data: string;
  /** Address of a PostgreSQL, which several servers may share, instead of SQLite in the folder. */
  readonly database?: Secret;
  /** @default "127.0.0.1" */
  readonly host?: string;
  /** 0 picks a free one. @default 0 */
  readonly port?: number;
  /** Serve the documented operations alone. @default false */
  readonly documentedOnly?: boolean;
  /** @default "refuse" */
  readonly unknownFields?: "refuse" | "allow";
  /** How long a simulated rollout takes, or a run of a job. @default 2 */
  readonly rolloutSeconds?: number;
  /** Carries rollouts out in the place of the embedded driver. */
  readonly rollouts?: RolloutDriver;
  /** Carries the runs of jobs out in the place of the embedded driver. */
  readonly runs?: RunDriver;
  /** Where the files of staged versions go, a `file://` or `s3://` URI; else a folder beside the data. */
  readonly artifactRoot?: string;
  /** Folder of manifests to create before the first request is served. */
  readonly seed?: string;
  /** The administrator's token; else the one in `admin-token` of the data folder. */
  readonly adminToken?: Secret;
  readonly log: Log;
  /** Closes it. */
  readonly signal?: AbortSignal;
};

/** A control plane that listens. */
export type ControlPlane = AsyncDisposable & {
  readonly url: string;
  readonly adminToken: Secret;
  /** Answers what was begun, and lets go of port, files and lock; repeatable. */
  close(): Promise<void>;
};

/** Starts a control plane; resolves once it listens. */
export async function createControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  // What was taken first is let go last, on a failure and on closing alike.
  await using stack = new AsyncDisposableStack();
  const folder = resolve(options.data);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  stack.use(lockFolder(folder));
  const context = await createContext(options, folder, stack);
  const adminToken = await establishAdmin(context, options.adminToken);
  if (options.seed !== undefined) await seed(options.seed, served, context);
  context.lookAt(context.now());
  const url = await serveHttp(options, context, stack);
  stack.use(await announceEndpoint(folder, url));
  options.signal?.throwIfAborted();
  const kept = stack.move();
  let closing: Promise<void> | null = null;
  const close = () => {
    closing ??= kept.disposeAsync();
    return closing;
  };
  options.signal?.addEventListener(
    "abort",
    () => void close().catch((error: unknown) => options.log.error({ err: error }, "closing failed")),
    { once: true },
  );
  return { url, adminToken, close, [Symbol.asyncDispose]: close };
}

function lockFolder(folder: string): AsyncDisposable {
  const lock = holdExclusiveLock(join(folder, "lock.db"));
  if (lock === null) throw new StoreError("locked", `${folder} is in use by another control plane`);
  return lock;
}

async function openData(database: Secret | undefined, folder: string): Promise<Store<Tables>> {
  if (database === undefined) return openStore<Tables>(join(folder, "control-plane.db"), migrations);
  // Who keeps its data in a file starts without the driver.
  const { openPostgresStore } = await import("../store/postgres/open.ts");
  return openPostgresStore<Tables>(database, migrations);
}

async function createContext(
  { artifactRoot, database, rollouts, runs, rolloutSeconds = 2, unknownFields = "refuse", log }: ControlPlaneOptions,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Context> {
  const sealKey = await loadKey(join(folder, "server-key"));
  const store = stack.use(await openData(database, folder));
  const now = () => Date.now();
  const wheel = new Wheel(
    () => advance(context),
    now,
    (error) => log.error({ err: error }, "rollouts failed"),
  );
  stack.defer(() => wheel.close());
  const rotation = new Wheel(
    () => rotateTokens(context),
    now,
    (error) => log.error({ err: error }, "rotation failed"),
  );
  stack.defer(() => rotation.close());
  const context: Context = {
    store,
    now,
    newId: createIds(now),
    sealKey,
    signingKeys: await openSigningKeys(store, sealKey, now),
    unknownFields,
    rollouts: rollouts ?? createEmbeddedDriver({ seconds: rolloutSeconds }),
    runs: runs ?? createEmbeddedRuns({ seconds: rolloutSeconds }),
    lookAt: (moment) => wheel.at(moment),
    artifacts: openArtifactRoot(artifactRoot ?? pathToFileURL(join(folder, "artifacts")).href),
    folder,
    log,
  };
  rotation.at(now());
  return context;
}

/** Moves on whatever goes on by itself, and answers when to do so again. */
async function advance(context: Context): Promise<number | null> {
  const moments = [await advanceRollouts(context), await advanceRuns(context)].filter((moment) => moment !== null);
  return moments.length === 0 ? null : Math.min(...moments);
}

async function serveHttp(
  { host = "127.0.0.1", port = 0, documentedOnly = false, log }: ControlPlaneOptions,
  context: Context,
  stack: AsyncDisposableStack,
): Promise<string> {
  const app = createHttpServer({ log, ready: () => isReady(context), explain: storageRefusal });
  stack.defer(() => app.close());
  addOperations(app, { context, authenticators, served, documentedOnly });
  addReference(app, { documentedOnly, unknownFields: context.unknownFields });
  return listen(app, host, port);
}

async function isReady({ store }: Context): Promise<boolean> {
  await store.read.selectFrom("users").select("id").limit(1).execute();
  return true;
}

function storageRefusal(error: unknown): Refusal | null {
  const fault = storeFault(error);
  switch (fault) {
    case "locked":
    case "inaccessible":
    case "unreachable":
    case "denied":
    case "absent":
      return new Refusal(503, "storage-unavailable", "the storage cannot be used at the moment", {
        headers: { "retry-after": "1" },
        cause: error,
      });
    case "unstorable":
      return badRequest("text with the character U+0000 cannot be kept");
    case "in-doubt":
      // No 503: that would say that nothing was done.
      return new Refusal(500, "outcome-unknown", "whether this was done is not known: look before you ask again", {
        cause: error,
      });
    default:
      return null;
  }
}
