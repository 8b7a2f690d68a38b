import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { runWarning } from "../../core/run-warning.ts";
import { createPassQueue, type PassQueue } from "../../daemon/pass-queue.ts";
import type { Invocation } from "../command.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { FoundTargets } from "../targets/find-targets.ts";

/**
 * Opens the queue of the passes: with a state in a database, the processes of a fleet share one there. A single process
 * holds its locks.
 */
export async function openQueue(
  { database }: FoundTargets,
  targets: readonly CommandTarget[],
  { flags, terminal }: Invocation,
): Promise<PassQueue> {
  const { workers } = flags;
  if (workers === undefined) return createPassQueue(terminal);
  if (database === null) {
    if (workers > 1) throw noFleet(workers);
    return createPassQueue({ ...terminal, atOnce: workers });
  }
  // Loaded here, so that a daemon with a state folder does not load the queue.
  const { openFleetQueue } = await import("../../daemon/fleet-queue.ts");
  const onTrouble = (error: unknown): void =>
    terminal.warnings.add(runWarning("no-queue", `the queue of passes: ${errorMessage(error)}`));
  const { clock } = terminal;
  return openFleetQueue({ address: database, workers, servers: serversOf(targets), clock, onTrouble });
}

function serversOf(targets: readonly CommandTarget[]): ReadonlyMap<string, string> {
  const servers = new Map(targets.map(({ name, choice }) => [name, choice?.server ?? "default"]));
  return new Set(servers.values()).size === 1 ? new Map() : servers;
}

function noFleet(workers: number): HoldfastError {
  return new HoldfastError("invalid", `--workers ${workers} needs a state in PostgreSQL`, {
    hint: "with a state folder one process runs the passes of all targets; name a database with HOLDFAST_STATE",
  });
}
