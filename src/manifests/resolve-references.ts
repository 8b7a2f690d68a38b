import { type Identity, type Reference, splitIdentity } from "../core/manifest.ts";
import { kindOf } from "../kinds/index.ts";
import { globMatcher } from "../model/glob.ts";
import { closestName } from "../schema/closest-name.ts";
import { quoted } from "../yaml/fault.ts";
import type { Refuse } from "./diagnostic-list.ts";
import type { FieldPlace, Rereading, SourceHead } from "./source-manifest.ts";

/** What references are resolved against. */
export type ReferenceContext = {
  /** Every identity that the source declares, refused ones included. */
  readonly declared: ReadonlySet<Identity>;
  /** Globs over identities that are managed externality. */
  readonly external: readonly string[];
  readonly refuse: Refuse;
  readonly reading: Rereading;
  /** Yields to the event loop when it is due. */
  readonly pause: () => Promise<void> | undefined;
};

/** How many undeclared references get a suggestion: finding one compares every name. */
const MAX_SUGGESTIONS = 100;

/** Refuses manifests with references to undeclared resources that are not external. */
export async function resolveReferences(
  manifests: readonly SourceHead[],
  { declared, external, refuse, reading, pause }: ReferenceContext,
): Promise<void> {
  let keysOf: ReadonlyMap<string, readonly string[]> | null = null;
  const knownExternals = new Map<Identity, boolean>();
  let suggested = 0;
  const missing = new Map<Identity, UndeclaredPlaces>();
  const externals = external.map(globMatcher);
  const isExternal = (identity: Identity) => {
    const known = knownExternals.get(identity) ?? externals.some((matches) => matches(identity));
    knownExternals.set(identity, known);
    return known;
  };
  for (const manifest of manifests) {
    for (const reference of manifest.references) {
      const pausing = pause();
      if (pausing !== undefined) await pausing;
      if (declared.has(reference.identity) || isExternal(reference.identity)) continue;
      keysOf ??= keysByKind(declared);
      const { kind, key } = splitIdentity(reference.identity);
      const keys = keysOf.get(kind);
      // Values are often put in by hand: whether such a group exists is asked of the control plane.
      if (keys === undefined || kindOf(kind)?.values !== undefined) continue;
      const place = { identity: manifest.identity, ...(await manifest.locate(reference.pointer, reading)) };
      const known = missing.get(reference.identity);
      if (known !== undefined) {
        known.others.push(place);
        continue;
      }
      const near = suggested++ < MAX_SUGGESTIONS ? closestName(key, keys) : undefined;
      missing.set(reference.identity, { ...undeclared(reference, near), first: place, others: [] });
    }
  }
  for (const { first, others, ...fault } of missing.values()) {
    const related = others.map(({ file, line, column }) => ({ file, line, column }));
    const { identity, ...place } = first;
    refuse(identity, { ...fault, ...place, ...(related.length === 0 ? {} : { related }) });
    for (const other of others) refuse(other.identity, null);
  }
}

/** An undeclared resource, and the references to it. */
type UndeclaredPlaces = ReturnType<typeof undeclared> & { readonly first: Referring; readonly others: Referring[] };

type Referring = FieldPlace & { readonly identity: Identity };

function undeclared({ identity }: Reference, near: string | undefined) {
  const { kind, key } = splitIdentity(identity);
  const remedy = `declare it here, or list ${quoted(identity)} under \`external\` in holdfast.yaml.`;
  const guess = near === undefined ? null : `Did you mean ${quoted(near)}?`;
  return {
    severity: "error",
    code: "undeclared-reference",
    summary: `the ${kind} ${quoted(key)} is not declared here`,
    detail: guess === null ? remedy.replace(/^d/, "D") : `${guess} Else ${remedy}`,
  } as const;
}

function keysByKind(declared: ReadonlySet<Identity>): ReadonlyMap<string, readonly string[]> {
  const keys = new Map<string, string[]>();
  for (const identity of declared) {
    const { kind, key } = splitIdentity(identity);
    const known = keys.get(kind);
    if (known) known.push(key);
    else keys.set(kind, [key]);
  }
  return keys;
}
