import type { Identity } from "../../core/manifest.ts";
import type { RecordedClaim, RecordedClaims } from "../../state/state.ts";
import { type Claimant, type Claims, declaredTwice, type OwnClaims } from "./claims.ts";

/** What a target declared when it had this number. */
type ReadSince = { readonly number: number; readonly declared: ReadonlySet<Identity> };

/**
 * The claims of a fleet: each pass records what its target declares in the database, so no process reads the sources of the
 * others' targets. Only the targets that no daemon has passes of are left to the claims of this process.
 */
export function createFleetClaims(recorded: RecordedClaims, own: OwnClaims): Claims {
  let claimants: ReadonlyMap<string, Claimant> = new Map();
  const introducing = new Map<string, Promise<void>>();
  const onServer = (target: string, server: string): Claimant | null => {
    const claimant = claimants.get(target);
    return claimant?.server === server ? claimant : null;
  };
  const claim = async (name: string, server: string, declared: ReadonlySet<Identity>): Promise<void> => {
    const others = new Map<string, ReadSince>();
    // Targets that this configuration does not have, or no longer, do not count.
    const stands = ({ identity, target, number }: RecordedClaim): boolean => {
      if (onServer(target, server) === null) return false;
      const other = others.get(target);
      return other?.number !== number || other.declared.has(identity);
    };
    for (;;) {
      const found = await recorded.claim(declared, { server, target: name }, stands);
      const claimant = found && onServer(found.target, server);
      if (found === null || claimant === null) return;
      const { identity, target, number } = found;
      // What it has recorded may be older than its newest commit.
      const now = await own.read(claimant);
      if (now === null || now.has(identity)) throw declaredTwice(identity, name, target);
      others.set(target, { number, declared: now });
    }
  };
  const introduce = async (target: string, claimant: Claimant): Promise<void> => {
    const declared = await own.read(claimant);
    if (declared !== null) await recorded.introduce(declared, { server: claimant.server, target });
  };
  const introduceOnce = (target: string, claimant: Claimant): Promise<void> => {
    const forget = (error: unknown): never => {
      introducing.delete(target);
      throw error;
    };
    const introduced = introducing.get(target) ?? introduce(target, claimant).catch(forget);
    introducing.set(target, introduced);
    return introduced;
  };
  // Such as new targets, whose first pass is still to come.
  const introduceOthers = async (name: string, server: string): Promise<void> => {
    const known = await recorded.targets(server);
    for (const [other, claimant] of claimants)
      if (other !== name && claimant.server === server && !known.has(other)) await introduceOnce(other, claimant);
  };
  return {
    setClaimants: (next) => {
      claimants = new Map([...next].filter(([, { hasPasses }]) => hasPasses));
      own.setClaimants(new Map([...next].filter(([, { hasPasses }]) => !hasPasses)));
      introducing.clear();
    },
    of: (name, server) => ({
      claim: async (declared) => {
        if (!claimants.has(name)) return;
        await own.require(name, server, declared);
        await claim(name, server, declared);
      },
      takeRead: () => null,
      declaredElsewhere: async (identities) => {
        const asked = new Set(identities);
        await introduceOthers(name, server);
        const owners = await recorded.owners(asked, server);
        const isOther = (owner: string): boolean => owner !== name && onServer(owner, server) !== null;
        const found = [...owners].flatMap(([identity, owner]) => (isOther(owner) ? [identity] : []));
        return (await own.of(name, server).declaredElsewhere(asked)).union(new Set(found));
      },
    }),
  };
}
