import PQueue from "p-queue";
import type { Identity } from "../../core/manifest.ts";

/** Whether a task can run, or why it cannot. */
export type TaskState =
  | { readonly is: "ready" }
  | { readonly is: "stopped" }
  | { readonly is: "blocked"; readonly by: Identity };

/** A unit of work with dependencies. */
export type Task<Result> = {
  readonly identity: Identity;
  readonly after: readonly Identity[];
  /** Does the work, unless a dependency failed, which it is given, or the schedule was stopped. */
  readonly run: (state: TaskState) => Promise<Result>;
};

/**
 * Runs tasks with bounded concurrency, each as soon as its dependencies are done. A failed task
 * blocks only its dependants; a stopped schedule blocks all remaining tasks.
 */
export async function schedule<Result>(
  tasks: readonly Task<Result>[],
  options: {
    readonly concurrency: number;
    readonly isGood: (result: Result) => boolean;
    readonly isStopped: () => boolean;
  },
): Promise<ReadonlyMap<Identity, Result>> {
  const results = new Map<Identity, Result>();
  const known = new Set(tasks.map(({ identity }) => identity));
  const waiting = new Map(
    tasks.map(({ identity, after }) => [identity, new Set(after.filter((one) => known.has(one))).size]),
  );
  const dependants = directDependants(tasks);
  const failures: unknown[] = [];
  const queue = new PQueue({ concurrency: options.concurrency });

  const stateOf = ({ after }: Task<Result>): TaskState => {
    const by = after.find((identity) => {
      const result = results.get(identity);
      return result !== undefined && !options.isGood(result);
    });
    if (by !== undefined) return { is: "blocked", by };
    return { is: options.isStopped() || failures.length > 0 ? "stopped" : "ready" };
  };
  const run = async (task: Task<Result>): Promise<void> => {
    results.set(task.identity, await task.run(stateOf(task)));
    for (const next of dependants.get(task.identity) ?? []) {
      const remaining = (waiting.get(next.identity) ?? 0) - 1;
      waiting.set(next.identity, remaining);
      if (remaining === 0) add(next);
    }
  };
  const add = (task: Task<Result>): void => {
    void queue.add(() => run(task).catch((error: unknown) => failures.push(error)));
  };
  for (const task of tasks.filter(({ identity }) => waiting.get(identity) === 0)) add(task);
  await queue.onIdle();
  if (failures.length > 0) throw failures[0];
  return results;
}

function directDependants<Result>(tasks: readonly Task<Result>[]): ReadonlyMap<Identity, readonly Task<Result>[]> {
  const dependants = new Map<Identity, Task<Result>[]>();
  for (const task of tasks) {
    for (const identity of new Set(task.after)) {
      const list = dependants.get(identity);
      if (list === undefined) dependants.set(identity, [task]);
      else list.push(task);
    }
  }
  return dependants;
}
