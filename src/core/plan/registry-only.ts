import type { RegistryOnly } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { type Identity, splitVersion } from "../manifest.ts";

/** The number of identities that reports name of each kind; the others are counted. */
const MAX_NAMED = 10;

/**
 * What the registry alone holds of a kind: the versions that no target of the control plane declares. Without a list of them
 * (null) it cannot be told. Null where there is none.
 */
export function registryOnlyOf(
  kind: string,
  versions: readonly Identity[] | null,
  elsewhere: ReadonlySet<Identity>,
): RegistryOnly | null {
  if (versions === null) return { kind, count: null, identities: [] };
  const isElsewhere = (identity: Identity): boolean =>
    elsewhere.has(identity) || elsewhere.has(splitVersion(identity).name);
  const alone = versions.filter((identity) => !isElsewhere(identity));
  if (alone.length === 0) return null;
  return { kind, count: alone.length, identities: alone.toSorted(compareVersions).slice(0, MAX_NAMED) };
}

function compareVersions(one: Identity, other: Identity): number {
  const [a, b] = [splitVersion(one), splitVersion(other)];
  return compareText(a.name, b.name) || (a.version ?? 0) - (b.version ?? 0);
}
