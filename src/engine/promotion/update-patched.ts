import type { ImportedResource } from "../../contract/generated/output.ts";
import type { JsonObject } from "../../contract/json.ts";
import { takeLive } from "../../core/diff/declared-form.ts";
import { pointerIn } from "../../core/diff/pointer.ts";
import { requireKind } from "../../core/kind.ts";
import type { ManifestUpdate, PromotedFile } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { locateFields } from "../../manifests/read-manifests.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { ExactProcess } from "../../yaml/read-yaml.ts";
import type { Desired } from "../load/desired.ts";
import type { Stoppable } from "../run.ts";
import { editManifests, type PromotedSource } from "./edit-manifests.ts";

/** The changes to a manifest, with one field for each of them by its path in normal form. */
export type LocatedUpdate = ManifestUpdate & {
  readonly manifest: SourceManifest;
  readonly live: JsonObject;
  readonly fields: readonly (readonly string[])[];
};

/** The changes to the manifests themselves, those to files of patches, and what is left as it is. */
export type UpdatedPatches = {
  readonly manifests: readonly ManifestUpdate[];
  readonly files: readonly PromotedFile[];
  readonly updates: readonly ManifestUpdate[];
  readonly kept: readonly ImportedResource[];
};

/**
 * Changes each field where its value stands: in the manifest, or in the patch that sets it. A manifest that another target
 * reads stays as it is, and a patch of this target says what differs.
 */
export async function updatePatched(
  found: readonly LocatedUpdate[],
  { uncommitted, ...source }: PromotedSource & { readonly uncommitted: Desired["uncommitted"] | undefined },
  run: Stoppable,
): Promise<UpdatedPatches> {
  const pathOf = new Map(source.indexed.revision.files.map(({ display, path }) => [display, path]));
  const isShared = ({ file }: ManifestUpdate): boolean => source.readerOf(pathOf.get(file) ?? file) !== null;
  const split = await Promise.all(found.map((one) => splitByPlace(one, isShared(one), run)));
  const wanted = split.flatMap(({ patched }) => patched ?? []);
  const { files, promoted, refused } = await editManifests(wanted, source, run);
  return {
    manifests: split.flatMap(({ plain }) => plain ?? []),
    files,
    updates: promoted.map((one) => ({ ...one, isUncommitted: uncommitted?.has(one.file) ?? false })),
    kept: refused.map(({ identity, kind, detail }) => {
      return { identity, kind, file: null, result: "skipped", why: "not-editable", detail };
    }),
  };
}

type Split = { readonly plain: ManifestUpdate | null; readonly patched: ManifestUpdate | null };

async function splitByPlace(
  { manifest, live, fields, ...update }: LocatedUpdate,
  isShared: boolean,
  { stopping: signal }: Stoppable,
): Promise<Split> {
  const kind = requireKind(kindsByType, update.kind);
  const values = [update.before, live];
  const pointers = fields.map((tokens) => ({ manifest, pointer: pointerIn(kind.shape, values, tokens) }));
  const places = await locateFields(pointers, { signal });
  const isPlain = places.map(({ position }) => !isShared && position.file === update.file);
  const part = (before: JsonObject, is: boolean): ManifestUpdate | null => {
    const own = fields.filter((_, at) => isPlain[at] === is);
    if (own.length === 0) return null;
    const changes = update.changes.filter((_, at) => isPlain[at] === is);
    return { ...update, before, after: takeLive(kind, before, live, own), changes };
  };
  await using exact = new ExactProcess();
  const unpatched = await manifest.patched?.unpatched({ exact, signal });
  return { plain: part(unpatched ?? update.before, true), patched: part(update.before, false) };
}
