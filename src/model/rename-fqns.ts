import { isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import { pointerTokens } from "../contract/json-pointer.ts";
import { referenceKinds, referencesWithoutSecrets, usedBy } from "./references.ts";

/** Names of clusters and workspaces, and what stands for them. */
export type Rename = {
  readonly clusters?: { readonly [fqn: string]: string } | null;
  readonly workspaces?: { readonly [fqn: string]: string } | null;
};

/** A manifest with other names, and the entries that have renamed something in it. */
export type Renamed = { readonly value: JsonObject; readonly entries: readonly string[] };

const { cluster_fqn: CLUSTER, workspace_fqn: WORKSPACE } = referenceKinds.fields;
const { volume_fqn: VOLUME } = referenceKinds.used;

/** The entries of a rename, as reports name them. */
export function renameEntries({ clusters, workspaces }: Rename): readonly string[] {
  const of = (key: string, names: Rename["clusters"]) => Object.keys(names ?? {}).map((name) => `${key}: ${name}`);
  return [...of("clusters", clusters), ...of("workspaces", workspaces)];
}

/** The rename that turns the names of one target into those of another; a name that stands for several is left out. */
export function renameBetween(from: Rename, to: Rename): Rename {
  const [here, there] = [namesOf(from, new Set()), namesOf(to, new Set())];
  return {
    clusters: namesBetween({ ...from.clusters, ...to.clusters }, here.cluster, there.cluster),
    workspaces: namesBetween({ ...from.workspaces, ...to.workspaces }, here.within, there.within),
  };
}

function namesBetween(
  names: { readonly [fqn: string]: string },
  here: (fqn: string) => string,
  there: (fqn: string) => string,
): { readonly [fqn: string]: string } {
  const byName = Map.groupBy(Object.keys(names), here);
  const single = [...byName].filter(([, all]) => new Set(all.map(there)).size === 1);
  return Object.fromEntries(single.map(([known, [original = known]]) => [known, there(original)]));
}

/** Renames clusters and workspaces in the identity and the references of a manifest; a workspace's entry goes first. */
export function renameFqns(manifest: JsonObject, rename: Rename): Renamed {
  const entries = new Set<string>();
  const names = namesOf(rename, entries);
  let value = renameOwn(manifest, names);
  const found = [...referencesWithoutSecrets(manifest, null), ...usedBy(manifest)];
  for (const { kind, pointer } of found) {
    const rewritten = kind === CLUSTER ? names.cluster : kind === WORKSPACE || kind === VOLUME ? names.within : null;
    // A workspace's cluster was renamed with the workspace itself.
    if (rewritten === null || (manifest.type === WORKSPACE && pointer === "/cluster_fqn")) continue;
    value = withTextAt(value, pointerTokens(pointer), rewritten);
  }
  return { value, entries: [...entries] };
}

/** The name that a cluster, a workspace or something within one has after a rename. */
export function renamedFqn(fqn: string, rename: Rename): string {
  const { cluster, within } = namesOf(rename, new Set());
  return fqn.includes(":") ? within(fqn) : cluster(fqn);
}

type Names = {
  /** The name of a cluster. */
  readonly cluster: (fqn: string) => string;
  /** The name of a workspace, or of something within one, with or without a scheme in front. */
  readonly within: (fqn: string) => string;
};

function namesOf({ clusters, workspaces }: Rename, used: Set<string>): Names {
  const lookUp = (key: string, names: Rename["clusters"], name: string): string | undefined => {
    const found = names && Object.hasOwn(names, name) ? names[name] : undefined;
    if (found !== undefined) used.add(`${key}: ${name}`);
    return found;
  };
  const cluster = (fqn: string): string => lookUp("clusters", clusters, fqn) ?? fqn;
  return {
    cluster,
    within: (fqn) => {
      const start = fqn.indexOf("://") < 0 ? 0 : fqn.indexOf("://") + 3;
      const [first = "", second, ...rest] = fqn.slice(start).split(":");
      if (second === undefined) return fqn;
      const workspace = lookUp("workspaces", workspaces, `${first}:${second}`) ?? `${cluster(first)}:${second}`;
      return fqn.slice(0, start) + [workspace, ...rest].join(":");
    },
  };
}

function renameOwn(manifest: JsonObject, { cluster, within }: Names): JsonObject {
  const { type, name, cluster_fqn: above } = manifest;
  if (typeof name !== "string") return manifest;
  if (type === CLUSTER) return { ...manifest, name: cluster(name) };
  if (type !== WORKSPACE || typeof above !== "string") return manifest;
  const fqn = within(`${above}:${name}`);
  const colon = fqn.indexOf(":");
  return { ...manifest, cluster_fqn: fqn.slice(0, colon), name: fqn.slice(colon + 1) };
}

/** A manifest in which the text at these tokens is rewritten; what is no text stays. */
export function withTextAt(
  value: JsonObject,
  tokens: readonly string[],
  rewritten: (text: string) => string,
): JsonObject {
  const changed = changedAt(value, tokens, rewritten);
  return isObject(changed) ? changed : value;
}

function changedAt(value: Json, [token, ...below]: readonly string[], rewritten: (text: string) => string): Json {
  if (token === undefined) return typeof value === "string" ? rewritten(value) : value;
  if (Array.isArray(value)) {
    return value.map((item: Json, at) => (String(at) === token ? changedAt(item, below, rewritten) : item));
  }
  if (!isObject(value)) return value;
  const field = own(value, token);
  return field === undefined ? value : { ...value, [token]: changedAt(field, below, rewritten) };
}
