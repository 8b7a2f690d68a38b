import type { JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import type { Kind } from "../core/kind.ts";
import type { Identity } from "../core/manifest.ts";
import { mergePatch, type Patched, type PatchFault } from "../core/patch/merge-patch.ts";
import { originAt, UNPATCHED } from "../core/patch/origin.ts";
import { namingFields } from "../model/normal-form.ts";
import { type Rename, renameEntries, renameFqns } from "../model/rename-fqns.ts";
import { nameOf } from "./declaration.ts";
import type { PatchDocument, PatchSet } from "./read-patches.ts";
import type { LocatePlace, PatchedManifest, PlacesThrough, Rereading } from "./source-manifest.ts";

/** The part of the configuration that says what manifests have and their documents lack. */
export type TransformRules = {
  readonly defaults?:
    | {
        /** The workspace of applications that name none. */
        readonly workspace_fqn?: string | null;
      }
    | null
    | undefined;
  /** What the target calls clusters and workspaces. */
  readonly rename?: Rename | null;
};

/**
 * What stands between a document and the manifest that it declares. A field that a document does not have is reported at
 * its nearest existing parent, or at the start of the document.
 */
export type Transform = {
  /**
   * Everything that every manifest depends on apart from its document; empty if there is nothing. What an earlier pass knows
   * of a document or of its manifest holds only with the same key, and the same key of its patches.
   */
  readonly key: string;
  readonly patches: PatchSet;
  /** The manifest that a document of a kind declares, before patches. */
  readonly manifestOf: (kind: Kind, document: JsonObject) => JsonObject;
  /** The manifest that a document of a kind declares. */
  readonly transformed: (kind: Kind, type: string, document: JsonObject) => Transformed;
};

/** A manifest, and how it came from its document. */
export type Transformed = Patched & {
  readonly unpatched: JsonObject;
  /** The patches that match it. */
  readonly patches: readonly PatchDocument[];
  readonly faults: readonly (PatchFault & { readonly patch: PatchDocument })[];
  /** The entries of the rename that have renamed something in it. */
  readonly renamedBy: readonly string[];
};

/** The transform of a source with these rules and patches. */
export function transformOf({ defaults, rename }: TransformRules, patches: PatchSet): Transform {
  const workspace = defaults?.workspace_fqn ?? null;
  const names = namesIn(rename);
  const named = (kind: Kind, document: JsonObject) => {
    const value = withDefaultWorkspace(kind, withoutSchema(document), workspace);
    return names === null ? { value, entries: NONE } : renameFqns(value, names);
  };
  return {
    key: transformKey({ defaults, rename: names }),
    patches,
    manifestOf: (kind, document) => named(kind, document).value,
    transformed: (kind, type, document) => {
      const { value, entries: renamedBy } = named(kind, document);
      const plain = { value, unpatched: value, origin: UNPATCHED, faults: NONE, renamedBy };
      const identity = patches.all.length === 0 ? null : nameOf(kind, type, value).identity;
      const matching = identity === null ? NONE : patches.of(identity);
      return matching.length === 0
        ? { ...plain, patches: NONE }
        : { ...plain, ...patchedBy(matching, { kind, type, value }), patches: matching };
    },
  };
}

const NONE: readonly never[] = [];

/** Everything that reading one file depends on apart from its content and the patches. */
export function transformKey({ defaults, rename }: TransformRules): string {
  const workspace = defaults?.workspace_fqn ?? null;
  const names = namesIn(rename);
  if (names === null) return workspace === null ? "" : JSON.stringify({ workspace });
  return JSON.stringify({ workspace, rename: names });
}

function namesIn(rename: TransformRules["rename"]): Rename | null {
  return rename && renameEntries(rename).length > 0 ? rename : null;
}

type Declared = { readonly kind: Kind; readonly type: string; readonly value: JsonObject };

/** A manifest as patches make it, one after the other, and what is wrong with them. */
export function patchedBy(
  patches: readonly PatchDocument[],
  { kind, type, value }: Declared,
): Pick<Transformed, "value" | "origin" | "faults"> {
  let patched: Patched = { value, origin: UNPATCHED };
  const faults: Transformed["faults"][number][] = [];
  for (const [at, document] of patches.entries()) {
    const { patch } = document;
    if (patch === null) continue;
    const fixed = Object.keys(patch).filter((name) => namesIdentity(kind, name));
    for (const name of fixed) faults.push({ ...identityFault(name), patch: document });
    const allowed = Object.fromEntries(Object.entries(patch).filter(([name]) => !fixed.includes(name)));
    const next = mergePatch(kind.shape, patched, { value: allowed, from: at + 1, pointer: "/patch" });
    for (const fault of next.faults) faults.push({ ...fault, patch: document });
    const isSame = nameOf(kind, type, next.value).identity === nameOf(kind, type, value).identity;
    if (!isSame) faults.push({ ...identityFault(null), patch: document });
    else patched = next;
  }
  return { ...patched, faults };
}

function namesIdentity({ hasVersions }: Kind, name: string): boolean {
  return namingFields.includes(name) || (hasVersions === true && name === "version");
}

function identityFault(name: string | null): PatchFault {
  const what = name === null ? "the identity" : `\`${name}\``;
  return {
    pointer: name === null ? "/patch" : `/patch/${escapePointer(name)}`,
    code: "patched-identity",
    summary: `${what} of a resource cannot be patched`,
    detail: "`rename` of the target maps clusters and workspaces; another resource needs a manifest of its own.",
  };
}

/** Where the fields of a patched manifest stand. */
export function placesThrough(
  { origin, patches }: Pick<Transformed, "origin" | "patches">,
  inDocument: LocatePlace,
): LocatePlace {
  return (pointer, at) => {
    const { from, pointer: place } = originAt(origin, pointer);
    return (patches[from - 1]?.locate ?? inDocument)(place, at);
  };
}

/** What is known of a manifest that patches match; null if none does. */
export function patchedManifest(
  transform: Transform,
  { kind, identity }: { readonly kind: Kind; readonly identity: Identity | null },
  readDocument: (reading: Rereading) => Promise<JsonObject>,
): (PatchedManifest & { readonly key: string }) | null {
  const last = identity === null ? undefined : transform.patches.of(identity).at(-1);
  if (identity === null || last === undefined) return null;
  return {
    key: transform.patches.keyOf(identity),
    place: last.locate("/patch", "key"),
    unpatched: async (reading) => transform.manifestOf(kind, await readDocument(reading)),
  };
}

/** The same for a document that is read later; null if no patch matches what it declares. */
export function placesOf(
  transform: Transform,
  { kind, type, identity }: { readonly kind: Kind; readonly type: string; readonly identity: Identity | null },
): PlacesThrough | null {
  if (identity === null || transform.patches.of(identity).length === 0) return null;
  return (document, inDocument) => placesThrough(transform.transformed(kind, type, document), inDocument);
}

// `$schema` tells an editor how to check a document. Few have one, and a copy of each would take long.
function withoutSchema(document: JsonObject): JsonObject {
  if (typeof document.$schema !== "string") return document;
  const { $schema: _, ...value } = document;
  return value;
}

function withDefaultWorkspace({ takesWorkspace }: Kind, value: JsonObject, workspace: string | null): JsonObject {
  if (workspace === null || !takesWorkspace || (value.workspace_fqn ?? null) !== null) return value;
  return { ...value, workspace_fqn: workspace };
}
