import type { IndexedRevision } from "../../cache/source-index.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import { WHOLE_SOURCE } from "../../core/selection/select.ts";
import { load } from "../../engine/load.ts";
import type { Target } from "../../engine/target.ts";
import type { Terminal } from "../terminal.ts";

/** A target that declares resources of a control plane. */
export type Claimant = {
  readonly target: () => Target;
  readonly server: string;
  /** Whether a pass over it follows, which uses what was read of it for the others. */
  readonly isRun: boolean;
};

/** What targets of one command declare, so that no two targets of one control plane declare the same resource. */
export type Claims = {
  /** The targets that count from now on, by name. */
  readonly setClaimants: (claimants: ReadonlyMap<string, Claimant>) => void;
  /** The checks of one target on its server; those of a target that does not count claim nothing. */
  readonly of: (name: string, server: string) => Required<Pick<Target, "claim" | "declaredElsewhere" | "takeRead">>;
};

/**
 * Refuses a revision that declares a resource which another target of the same control plane also declares. The source of a
 * target without a pass is read for that, once.
 */
export function createClaims({ clock, stopping }: Pick<Terminal, "clock" | "stopping">): Claims {
  let claimants: ReadonlyMap<string, Claimant> = new Map();
  const claimed = new Map<string, ReadonlySet<Identity>>();
  const loading = new Map<string, Promise<void>>();
  // Kept until the pass over that target takes it.
  const reads = new Map<string, IndexedRevision>();
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
  const read = async (name: string, { target, server, isRun }: Claimant): Promise<void> => {
    const isFirst = !claimed.has(name);
    try {
      const { claim: _, declaredElsewhere: __, takeRead: ___, ...alone } = target();
      // What a command selects of its own target says nothing of the others.
      const rules: Target["rules"] = (config) => ({ ...alone.rules(config), selection: WHOLE_SOURCE });
      const found = await load({ ...alone, rules }, { clock, stopping }, { before: null });
      // Hundreds of targets that are not run here would fill the memory.
      if (!isRun) alone.sourceCache?.release();
      if (isRun && isFirst && found.from !== null) reads.set(name, found.from);
      register(name, server, found.desired.declared);
    } catch {
      // The passes of that target report the error.
      stopping.throwIfAborted();
      register(name, server, claimed.get(name) ?? new Set());
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
  return {
    setClaimants: (next) => {
      for (const [name, { server }] of claimants) {
        if (next.get(name)?.server === server) continue;
        register(name, server, new Set());
        claimed.delete(name);
        reads.delete(name);
      }
      claimants = next;
    },
    of: (name, server) => ({
      claim: async (declared) => {
        if (!claimants.has(name)) return;
        reads.delete(name);
        await readOthers(name, server);
        for (const identity of declared) {
          const other = otherOwner(name, server, identity);
          const claimant = other === undefined ? undefined : claimants.get(other);
          if (other === undefined || claimant === undefined) continue;
          // What the other one declared may be older than this revision.
          await read(other, claimant);
          if (claimed.get(other)?.has(identity)) throw declaredTwice(identity, name, other);
        }
        register(name, server, declared);
      },
      takeRead: () => {
        const found = reads.get(name) ?? null;
        reads.delete(name);
        return found;
      },
      declaredElsewhere: async () => {
        await readOthers(name, server);
        const isElsewhere = ([, names]: readonly [Identity, readonly string[]]) =>
          names.some((owner) => owner !== name);
        return new Set([...ownersOn(server)].filter(isElsewhere).map(([identity]) => identity));
      },
    }),
  };
}

function declaredTwice(identity: Identity, name: string, other: string): HoldfastError {
  return new HoldfastError(
    "invalid",
    `${identity} is declared in two targets of one control plane: ${name}, ${other}`,
    {
      hint: "declare it in one of them, or narrow the `paths` of one target",
    },
  );
}
