import type { ReadMemory } from "../engine/load/pass-memory.ts";

/** What the targets of a daemon remember between their passes. */
export type KeptMemories = {
  /** What a target remembers, for a pass that begins; null if its state must be read again. It is not dropped until `keep`. */
  readonly take: (target: string) => ReadMemory | null;
  /** What a target remembers, for those who only look at it. */
  readonly latest: (target: string) => ReadMemory | null;
  /** Keeps it until the next pass. `release` is called when it is dropped for other targets; with null it never is. */
  readonly keep: (target: string, memory: ReadMemory, release: (() => void) | null) => void;
  /** Forgets what a target remembers, since another process has had a pass of it. */
  readonly forget: (target: string) => void;
  /** The memories of some targets alone, for the daemon that follows this one. */
  readonly only: (targets: readonly string[]) => KeptMemories;
};

/**
 * What a daemon of one process keeps: about 4 kB for each manifest. A target whose memory was dropped begins with a pass
 * over everything.
 */
export const MOST_MANIFESTS = 200_000;

/** What a process of a fleet keeps: most passes of a target are run by the other processes, to which it is of no use. */
export const MOST_MANIFESTS_SHARED = 5_000;

/**
 * Keeps memories of at most so many manifests in sum, and at least the last one: those whose passes were longest ago are
 * dropped.
 */
export function keptMemories(
  most: number,
  earlier: Iterable<readonly [target: string, kept: Kept]> = [],
): KeptMemories {
  const all = new Map(earlier);
  const taken = new Set<string>();
  const dropBefore = (last: string): void => {
    let sum = all.values().reduce((total, { memory }) => total + manifestsOf(memory), 0);
    for (const [target, { memory, release }] of all) {
      if (sum <= most || target === last) return;
      if (release === null || taken.has(target)) continue;
      sum -= manifestsOf(memory);
      all.delete(target);
      release();
    }
  };
  return {
    take: (target) => {
      taken.add(target);
      return all.get(target)?.memory ?? null;
    },
    latest: (target) => all.get(target)?.memory ?? null,
    keep: (target, memory, release) => {
      taken.delete(target);
      all.delete(target);
      all.set(target, { memory, release });
      dropBefore(target);
    },
    forget: (target) => void all.delete(target),
    only: (targets) =>
      keptMemories(
        most,
        all.entries().filter(([target]) => targets.includes(target)),
      ),
  };
}

type Kept = { readonly memory: ReadMemory; readonly release: (() => void) | null };

function manifestsOf({ lastApplied }: ReadMemory): number {
  return lastApplied?.desired.manifests.length ?? 0;
}
