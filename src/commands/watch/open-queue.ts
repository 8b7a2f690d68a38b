import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import { runWarning } from "../../core/run-warning.ts";
import { createPassQueue, type PassQueue } from "../../daemon/pass-queue.ts";
import type { Invocation } from "../command.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { FoundTargets } from "../targets/find-targets.ts";
import { serverNameOf } from "../targets/server-of-target.ts";

/**
 * Opens the queue of the passes: with a state in a database, the processes of a fleet share one there. A single process
 * holds its locks.
 */
export async function openQueue(
  { database, operator }: FoundTargets,
  targets: readonly CommandTarget[],
  invocation: Invocation,
): Promise<PassQueue> {
  const { flags, terminal } = invocation;
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
  const servers = new Map(targets.map(({ name, choice }) => [name, serverNameOf(choice, operator, invocation)]));
  return openFleetQueue({ address: database, workers, servers, clock, onTrouble });
}

function noFleet(workers: number): HoldfastError {
  return new HoldfastError("invalid", `--workers ${workers} needs a state in PostgreSQL`, {
    hint: "with a state folder one process runs the passes of all targets; name a database with HOLDFAST_STATE",
  });
}
