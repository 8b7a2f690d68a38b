import type { Kind } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Manifest } from "../../core/manifest.ts";
import { createDryRun, isDryRunSafe } from "../observe/dry-run.ts";
import { type LiveReading, observeOne } from "../observe/read-live.ts";
import type { ReadAccess } from "../session.ts";

/** A resource that is read again, with its id where that is known. */
export type Reread = { readonly kind: Kind; readonly manifest: Manifest; readonly id: string | null };

/** How single resources are read again, past the cache. */
export function uncachedReading(server: ReadAccess, concurrency: number, signal: AbortSignal): LiveReading {
  const { reader, capabilities } = server;
  return { reader, capabilities, known: null, dryRun: createDryRun(server, concurrency), concurrency, signal };
}

/** Reads live of one resource again; for a kind without a read, a safe dry run shows whether the resource exists. */
export async function readAgain({ kind, manifest, id }: Reread, reading: LiveReading): Promise<Live> {
  const live = await observeOne({ identity: manifest.identity, kind, manifest, id, wave: 0 }, reading);
  const mayDryRun = kind.single === undefined && isDryRunSafe(reading.capabilities);
  if (live.state !== "unknown" || live.reason !== "no-read" || !mayDryRun) return live;
  const tried = await reading.dryRun(kind, manifest, reading);
  if (tried.state !== "answered" || tried.row === null) return live;
  return tried.row.id === null ? { state: "absent" } : { ...live, exists: true };
}
