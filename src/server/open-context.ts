import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Clock } from "../clock/clock.ts";
import { STAGED_FILES } from "../contract/staged-files.ts";
import { lstatOrNull } from "../files/lstat-or-null.ts";
import { requireOwnFolder } from "../files/own-folder.ts";
import { checkWritable } from "../files/write-file.ts";
import type { SchemaMode } from "../store/migrate.ts";
import { openSqliteStore } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { AuditChain } from "./audit/chain.ts";
import { finishAudit } from "./audit/flush.ts";
import { auditKey } from "./audit/keys.ts";
import { createRefusals } from "./audit/refusals.ts";
import type { OidcOptions } from "./auth/oidc/claims.ts";
import { forgetGroups } from "./auth/oidc/sign-in.ts";
import { openSigningKeys } from "./auth/signing-keys.ts";
import type { Context } from "./context.ts";
import { createIdGenerator } from "./database/id-generator.ts";
import { migrations, serverMigrations } from "./database/migrations.ts";
import type { Tables } from "./database/tables.ts";
import { startBackgroundJobs } from "./jobs/background-jobs.ts";
import { keptByDefault } from "./jobs/retention.ts";
import { type ControlPlaneOptions, OptionsError } from "./options.ts";
import { resources } from "./resources/index.ts";
import { createSimulatedRuns } from "./resources/job-run/simulated-runs.ts";
import { createTokenUses } from "./resources/personal-access-token/token-uses.ts";
import { isServedRoot, openArtifactRoot } from "./resources/staged-artifact/artifact-storage.ts";
import { createProgramRollouts } from "./rollouts/program-rollouts.ts";
import type { RolloutDriver } from "./rollouts/rollout-driver.ts";
import { createSimulatedRollouts } from "./rollouts/simulated-rollouts.ts";
import { type KeySource, openServerKeys, type ServerKeys } from "./secrets/server-keys.ts";

/** The SQLite database in a data folder, unless PostgreSQL is used. */
export const DATA_FILE = "control-plane.db";

/** Opens the context of operations and starts the background jobs; the stack closes them. `onWrite` is told of each write. */
export async function openContext(
  options: ControlPlaneOptions,
  folder: string,
  { stack, onWrite }: { readonly stack: AsyncDisposableStack; readonly onWrite: (milliseconds: number) => void },
): Promise<Context> {
  requireUsableRoot(options);
  const store = measuredStore(stack.use(await openData(options, folder, "migrate")), options.clock, onWrite);
  const source = keySource(options, folder);
  const { context: own, serverKeys } = await contextOn(store, source, options, (moment) =>
    jobs.scheduleAdvance(moment),
  );
  const context = { ...own, issuer: options.oidc === undefined ? null : await issuerOf(options.oidc, own) };
  stack.defer(async () => context.rollouts.programs?.close());
  // Nothing says any more who is in which.
  if (options.oidc?.groupsClaim === undefined) await forgetGroups(context);
  const isChanging = source.from !== "text" || store.isShared;
  const jobs = stack.use(
    startBackgroundJobs(context, resources, {
      serverKeys,
      kept: { ...keptByDefault, ...options.retention },
      keyCheckSeconds: isChanging ? (options.fileCheckSeconds ?? 5) : null,
    }),
  );
  return context;
}

/** Opens the context without migrating the database or starting jobs, while a server may be running on it. */
export async function openContextWithoutJobs(
  options: ControlPlaneOptions,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Context> {
  const store = stack.use(await openData(options, folder, "leave"));
  const { context } = await contextOn(store, keySource(options, folder), options, () => {});
  stack.defer(() => finishAudit(context));
  return context;
}

async function issuerOf(options: OidcOptions, context: Context) {
  // Loaded here, so that a server without an issuer does not load what reads its keys.
  const { createTokenIssuer } = await import("./auth/oidc/issuer.ts");
  return createTokenIssuer(options, context);
}

async function contextOn(
  data: Store<Tables>,
  source: KeySource,
  options: ControlPlaneOptions,
  scheduleAdvance: Context["scheduleAdvance"],
): Promise<{ readonly context: Context; readonly serverKeys: ServerKeys }> {
  const { artifactRoot, runs, rolloutSeconds = 2, unknownFields = "refuse", log, clock, random } = options;
  const { maxLeaseSeconds = 900, stageHours = 24 } = options;
  const folder = resolve(options.data);
  const stagedFiles = { folder: fileFolder(options, folder), maxBytes: options.stageBytes ?? 100_000_000_000 };
  const serverKeys = await openServerKeys({ source, store: data, clock, log });
  const keys = serverKeys.current;
  const newId = createIdGenerator(clock, random);
  const key = await auditKey(data, keys(), new Date(clock.now()).toISOString());
  const audit = { chain: new AuditChain(newId(), key), refusals: createRefusals() };
  const store = audit.chain.follow(data);
  const context: Context = {
    store,
    clock,
    newId,
    audit,
    keys,
    signingKeys: await openSigningKeys({ store, keys, clock }),
    issuer: null,
    tokenUses: createTokenUses(store, clock),
    unknownFields,
    maxLeaseSeconds,
    rollouts: options.rollouts ?? rolloutDriver(options, () => scheduleAdvance(clock.now())),
    runs: runs ?? createSimulatedRuns({ seconds: rolloutSeconds }),
    scheduleAdvance,
    artifacts: openArtifactRoot(artifactRoot ?? pathToFileURL(stagedFiles.folder).href, {
      folder: stagedFiles.folder,
      keys,
      expiry: () => clock.now() + stageHours * HOUR,
    }),
    stagedFiles,
    folder,
    log,
    targets: new Map(resources.flatMap(({ references = [] }) => references.map((target) => [target.kind, target]))),
  };
  return { context, serverKeys };
}

function rolloutDriver(options: ControlPlaneOptions, changed: () => void): RolloutDriver {
  const { clock, log, rolloutProgram, rolloutSeconds = 2, rolloutFailures = [] } = options;
  if (rolloutProgram !== undefined) {
    const isShared = options.database !== undefined;
    return createProgramRollouts(rolloutProgram, { clock, log, isShared, changed });
  }
  return createSimulatedRollouts({ seconds: rolloutSeconds, rules: rolloutFailures });
}

const HOUR = 3_600_000;

/** Refuses a root for staged files that clients could not use. */
function requireUsableRoot({ artifactRoot, artifactFolder, database, documentedOnly }: ControlPlaneOptions): void {
  const isServed = isServedRoot(artifactRoot);
  if (artifactFolder !== undefined && !isServed) {
    throw new OptionsError("--artifact-folder is for an --artifact-root at the address of this server");
  }
  if (isServed && documentedOnly === true) {
    throw new OptionsError(
      `files go through the server by extension ${STAGED_FILES}, which is not among the documented operations`,
    );
  }
  if (isServed && database !== undefined && artifactFolder === undefined) {
    throw new OptionsError(
      "with PostgreSQL, files that go through the server need --artifact-folder, a folder that all servers share: others cannot read this one's data folder",
    );
  }
  if (artifactFolder !== undefined) checkFolder(artifactFolder);
}

function fileFolder({ artifactFolder }: ControlPlaneOptions, data: string): string {
  if (artifactFolder !== undefined) return artifactFolder;
  const folder = join(data, "artifacts");
  if (lstatOrNull(folder) !== null) requireOwnFolder(folder);
  return folder;
}

function checkFolder(folder: string): void {
  try {
    checkWritable(folder);
  } catch (cause) {
    throw new OptionsError(`staged files cannot be stored: ${storageErrorAt(folder, cause)}`, { cause });
  }
}

async function openData(
  { database, store, log, clock, random }: ControlPlaneOptions,
  folder: string,
  schema: SchemaMode,
): Promise<Store<Tables>> {
  if (store !== undefined) return store;
  if (database === undefined) {
    return openSqliteStore<Tables>(join(folder, DATA_FILE), migrations, {
      clock,
      schema,
      notify: (notice) => log.warn({ event: "state-notice" }, notice),
    });
  }
  // The driver is loaded only when it is needed.
  const { openPostgresStore } = await import("../store/postgres/open.ts");
  return openPostgresStore<Tables>(database, serverMigrations, { clock, random, schema });
}

function keySource({ serverKey: text, serverKeyFile: path }: ControlPlaneOptions, folder: string): KeySource {
  if (text !== undefined) return { from: "text", text };
  return path === undefined ? { from: "own", path: join(folder, "server-key") } : { from: "file", path };
}

/** The same store, which tells how long each write took until it was durable. */
function measuredStore<Tables>(
  store: Store<Tables>,
  clock: Clock,
  onWrite: (milliseconds: number) => void,
): Store<Tables> {
  return {
    ...store,
    write: async (change) => {
      const begunAt = clock.monotonic();
      const result = await store.write(change);
      onWrite(clock.monotonic() - begunAt);
      return result;
    },
  };
}
