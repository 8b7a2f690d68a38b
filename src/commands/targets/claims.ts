import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import { load } from "../../engine/load.ts";
import type { Target } from "../../engine/target.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Refuses a revision that declares a resource which another target of the same control plane also declares. The source of a
 * target without a pass is read for that.
 */
export function claimsOf(
  claimants: ReadonlyMap<string, { readonly target: Target; readonly server: string }>,
  { clock, stopping }: Terminal,
): (name: string) => Required<Pick<Target, "claim" | "declaredElsewhere">> {
  const claimed = new Map<string, ReadonlySet<Identity>>();
  const claimOf = async (
    name: string,
    { target: { claim: _, declaredElsewhere: __, ...target } }: { readonly target: Target; readonly server: string },
  ): Promise<ReadonlySet<Identity>> => {
    const known = claimed.get(name);
    if (known !== undefined) return known;
    try {
      return (await load(target, { clock, stopping })).desired.declared;
    } catch {
      // The passes of that target report the error.
      stopping.throwIfAborted();
      return new Set();
    }
  };
  const othersOf = (name: string) => {
    const own = claimants.get(name);
    return [...claimants].filter(([other, { server }]) => other !== name && server === own?.server);
  };
  return (name) => ({
    claim: async (declared) => {
      for (const [other, claimant] of othersOf(name)) {
        const theirs = await claimOf(other, claimant);
        const twice = [...declared].find((identity) => theirs.has(identity));
        if (twice !== undefined) throw declaredTwice(twice, name, other);
      }
      claimed.set(name, declared);
    },
    declaredElsewhere: async () => {
      const theirs = await Promise.all(othersOf(name).map(([other, claimant]) => claimOf(other, claimant)));
      return new Set(theirs.flatMap((declared) => [...declared]));
    },
  });
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
