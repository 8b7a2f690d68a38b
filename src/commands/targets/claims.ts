import type { IndexedRevision } from "../../cache/source-index.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import { WHOLE_SOURCE } from "../../core/selection/select.ts";
import { type DesiredRead, load } from "../../engine/load.ts";
import type { Target } from "../../engine/target.ts";
import { StoreError } from "../../store/store-error.ts";
import type { Terminal } from "../terminal.ts";

/** A target that declares resources of a control plane. */
export type Claimant = {
  readonly target: () => Target;
  readonly server: string;
  /** Whether a pass over it follows, which uses what was read of it for the others. */
  readonly isRun: boolean;
  /** Whether a daemon has passes of it. */
  readonly hasPasses: boolean;
};

/** What targets of one command declare, so that no two targets of one control plane declare the same resource. */
export type Claims = {
  /** The targets that count from now on, by name. */
  readonly setClaimants: (claimants: ReadonlyMap<string, Claimant>) => void;
  /** The checks of one target on its server; those of a target that does not count claim nothing. */
  readonly of: (name: string, server: string) => Required<Pick<Target, "claim" | "declaredElsewhere" | "takeRead">>;
};

/** The claims of one process, which reads the sources of all targets that count. */
export type OwnClaims = Claims & {
  /** Fails if another target that counts declares one of these. */
  readonly require: (name: string, server: string, declared: ReadonlySet<Identity>) => Promise<void>;
  /** What the source of a target declares now; null where it cannot be read. */
  readonly read: (claimant: Claimant) => Promise<ReadonlySet<Identity> | null>;
};

/**
 * Refuses a revision that declares a resource which another target of the same control plane also declares. The source of a
 * target without a pass is read for that, once.
 */
export function createClaims({ clock, stopping }: Pick<Terminal, "clock" | "stopping">): OwnClaims {
  let claimants: ReadonlyMap<string, Claimant> = new Map();
  const claimed = new Map<string, ReadonlySet<Identity>>();
  const loading = new Map<string, Promise<void>>();
  const reads = keptReads<IndexedRevision>(MOST_KEPT);
  // By server and identity, so that a claim costs what it declares and not what all others do.
  const owners = new Map<string, Map<Identity, readonly string[]>>();
  const ownersOn = (server: string): Map<Identity, readonly string[]> => {
    const known = owners.get(server) ?? new Map<Identity, readonly string[]>();
    owners.set(server, known);
    return known;
  };
  const register = (name: string, server: string, declared: ReadonlySet<Identity>): void => {
    const known = ownersOn(server);
    for (const identity of claimed.get(name) ?? []) {
      if (declared.has(identity)) continue;
      const left = known.get(identity)?.filter((owner) => owner !== name) ?? [];
      if (left.length === 0) known.delete(identity);
      else known.set(identity, left);
    }
    for (const identity of declared) {
      const before = known.get(identity) ?? [];
      if (!before.includes(name)) known.set(identity, [...before, name]);
    }
    claimed.set(name, declared);
  };
  const readAlone = async ({ target, isRun }: Claimant): Promise<DesiredRead> => {
    const { claim: _, declaredElsewhere: __, takeRead: ___, ...alone } = target();
    // What a command selects of its own target says nothing of the others.
    const rules: Target["rules"] = (config) => ({ ...alone.rules(config), selection: WHOLE_SOURCE });
    const found = await load({ ...alone, rules }, { clock, stopping }, { before: null });
    // Hundreds of targets that are not run here would fill the memory.
    if (!isRun) alone.sourceCache?.release();
    return found;
  };
  const keepUntilPass = (name: string, { target }: Claimant, from: IndexedRevision, size: number): void => {
    if (!reads.keep(name, from, size)) target().sourceCache?.release();
  };
  const read = async (name: string, claimant: Claimant): Promise<void> => {
    const isFirst = !claimed.has(name);
    try {
      const { from, desired } = await readAlone(claimant);
      if (claimant.isRun && isFirst && from !== null) keepUntilPass(name, claimant, from, desired.declared.size);
      register(name, claimant.server, desired.declared);
    } catch {
      // The passes of that target report the error.
      stopping.throwIfAborted();
      register(name, claimant.server, claimed.get(name) ?? new Set());
    }
  };
  const readOnce = (name: string, claimant: Claimant): Promise<void> => {
    if (claimed.has(name)) return Promise.resolve();
    const reading = loading.get(name) ?? read(name, claimant).finally(() => loading.delete(name));
    loading.set(name, reading);
    return reading;
  };
  const readOthers = async (name: string, server: string): Promise<void> => {
    for (const [other, claimant] of claimants)
      if (other !== name && claimant.server === server) await readOnce(other, claimant);
  };
  const otherOwner = (name: string, server: string, identity: Identity): string | undefined =>
    ownersOn(server)
      .get(identity)
      ?.find((owner) => owner !== name && claimants.has(owner));
  const requireAlone = async (name: string, server: string, declared: ReadonlySet<Identity>): Promise<void> => {
    await readOthers(name, server);
    for (const identity of declared) {
      const other = otherOwner(name, server, identity);
      const claimant = other === undefined ? undefined : claimants.get(other);
      if (other === undefined || claimant === undefined) continue;
      // What the other one declared may be older than this revision.
      await read(other, claimant);
      if (claimed.get(other)?.has(identity)) throw declaredTwice(identity, name, other);
    }
  };
  return {
    require: requireAlone,
    read: async (claimant) => {
      try {
        return (await readAlone(claimant)).desired.declared;
      } catch (error) {
        stopping.throwIfAborted();
        // A database that is away says nothing of the source.
        if (error instanceof StoreError) throw error;
        return null;
      }
    },
    setClaimants: (next) => {
      for (const [name, { server }] of claimants) {
        if (next.get(name)?.server === server) continue;
        register(name, server, new Set());
        claimed.delete(name);
        reads.take(name);
      }
      claimants = next;
    },
    of: (name, server) => ({
      claim: async (declared) => {
        if (!claimants.has(name)) return;
        reads.take(name);
        await requireAlone(name, server, declared);
        register(name, server, declared);
      },
      takeRead: () => reads.take(name),
      declaredElsewhere: async (identities) => {
        await readOthers(name, server);
        return new Set([...identities].filter((identity) => otherOwner(name, server, identity) !== undefined));
      },
    }),
  };
}

// About 2 kB each; a pass whose source was not kept reads it again.
const MOST_KEPT = 200_000;

/** What was read of sources for the claims of others, until the pass over each takes it: of at most so many resources in sum. */
export function keptReads<Read>(most: number): {
  /** Whether it is kept. */
  readonly keep: (name: string, read: Read, resources: number) => boolean;
  readonly take: (name: string) => Read | null;
} {
  const kept = new Map<string, { readonly read: Read; readonly resources: number }>();
  let sum = 0;
  const take = (name: string): Read | null => {
    const found = kept.get(name);
    kept.delete(name);
    sum -= found?.resources ?? 0;
    return found?.read ?? null;
  };
  return {
    keep: (name, read, resources) => {
      take(name);
      if (sum + resources > most) return false;
      kept.set(name, { read, resources });
      sum += resources;
      return true;
    },
    take,
  };
}

/** The error where two targets of one control plane declare a resource. */
export function declaredTwice(identity: Identity, name: string, other: string): HoldfastError {
  return new HoldfastError(
    "invalid",
    `${identity} is declared in two targets of one control plane: ${name}, ${other}`,
    {
      hint: "declare it in one of them, or narrow the `paths` of one target",
    },
  );
}
