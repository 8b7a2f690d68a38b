import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Secret } from "../contract/secret.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { openArtifactRoot } from "./artifact-root.ts";
import type { Context } from "./context.ts";
import { migrations } from "./data/migrations.ts";
import type { Tables } from "./data/tables.ts";
import { createIds } from "./identity.ts";
import type { ControlPlaneOptions } from "./options.ts";
import { createEmbeddedDriver } from "./rollout/embedded.ts";
import { createEmbeddedRuns } from "./runs/embedded.ts";
import { type KeySource, openServerKeys } from "./server-keys.ts";
import { openSigningKeys } from "./signing-keys.ts";
import { turnWheels } from "./wheels.ts";

/** Opens what operations work on; the stack lets go of it. */
export async function openContext(
  options: ControlPlaneOptions,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Context> {
  const { artifactRoot, database, rollouts, runs, rolloutSeconds = 2, unknownFields = "refuse", log } = options;
  const store = stack.use(await openData(database, folder));
  const now = () => Date.now();
  const source = keySource(options, folder);
  const serverKeys = await openServerKeys({ source, store, now, log });
  const keys = serverKeys.current;
  const context: Context = {
    store,
    now,
    newId: createIds(now),
    keys,
    signingKeys: await openSigningKeys({ store, keys, now }),
    unknownFields,
    rollouts: rollouts ?? createEmbeddedDriver({ seconds: rolloutSeconds }),
    runs: runs ?? createEmbeddedRuns({ seconds: rolloutSeconds }),
    lookAt: (moment) => wheels.lookAt(moment),
    artifacts: openArtifactRoot(artifactRoot ?? pathToFileURL(join(folder, "artifacts")).href),
    folder,
    log,
  };
  const isChanging = source.from !== "text" || store.isShared;
  const wheels = stack.use(
    turnWheels(context, { serverKeys, keyCheckSeconds: isChanging ? (options.fileCheckSeconds ?? 5) : null }),
  );
  return context;
}

async function openData(database: Secret | undefined, folder: string): Promise<Store<Tables>> {
  if (database === undefined) return openStore<Tables>(join(folder, "control-plane.db"), migrations);
  // Who keeps its data in a file starts without the driver.
  const { openPostgresStore } = await import("../store/postgres/open.ts");
  return openPostgresStore<Tables>(database, migrations);
}

function keySource({ serverKey: text, serverKeyFile: path }: ControlPlaneOptions, folder: string): KeySource {
  if (text !== undefined) return { from: "text", text };
  return path === undefined ? { from: "own", path: join(folder, "server-key") } : { from: "file", path };
}
