import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";

/** The first processor, and all others, in the notation of taskset; null where processes cannot be pinned to them. */
export function splitProcessors(): readonly [first: string, others: string] | null {
  const count = availableParallelism();
  if (count < 2) return null;
  try {
    pinProcess(process.pid, `0-${count - 1}`);
  } catch {
    // There is no taskset, or this process may not use every processor.
    return null;
  }
  return ["0", `1-${count - 1}`];
}

/** Restricts a process to some processors, with the threads that it has and those that it will start. */
export function pinProcess(pid: number, processors: string): void {
  execFileSync("taskset", ["--all-tasks", "--pid", "--cpu-list", processors, String(pid)], { stdio: "ignore" });
}
