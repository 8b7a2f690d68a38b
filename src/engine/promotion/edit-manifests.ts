// src/engine/promotion: the files of a target with what is promoted to it. See docs/environments.md#promotion.

import type { IndexedRevision } from "../../cache/source-index.ts";
import type { NotPromoted } from "../../contract/generated/output.ts";
import { equal } from "../../contract/json.ts";
import { requireKind } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import type { ManifestUpdate, PromotedFile } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import { documentChange } from "../../manifests/document-change.ts";
import { secretsIn } from "../../manifests/literal-secrets.ts";
import { type Loaded, loadManifests } from "../../manifests/load-manifests.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import type { SourceFile } from "../../source/revision.ts";
import { formatOf } from "../../yaml/document.ts";
import { type DocumentChange, editDocument } from "../../yaml/edit-document.ts";
import type { Stoppable } from "../run.ts";
import { changedText, type FileEdit, fileEdits, textOf, withTexts } from "./file-edits.ts";
import { intoPatches } from "./into-patches.ts";

/** The source of the target, and who else reads its files. */
export type PromotedSource = {
  readonly indexed: IndexedRevision;
  /** The name of another target that reads a file of the source, by its path below the root; null if none does. */
  readonly readerOf: (path: string) => string | null;
};

/**
 * A manifest and what it is to declare. `as`: its identity then, if it is another one. `from`: the resource by which the
 * report names it, if not by its own identity.
 */
export type WantedManifest = ManifestUpdate & {
  readonly as?: Identity;
  readonly from?: { readonly identity: Identity };
};

/** The changed files, what is promoted in them, and what cannot be. */
export type EditedManifests<One extends WantedManifest> = {
  readonly files: readonly PromotedFile[];
  readonly promoted: readonly One[];
  /** What is promoted as the changed files declare it. */
  readonly declared: readonly SourceManifest[];
  readonly refused: readonly NotPromoted[];
};

/**
 * Changes the files of a target so that it declares what is promoted: the manifest in place if nothing else reads it, else
 * patches of the target. The changed source is read as a pass would read it, and what does not come out as promoted is left
 * out. No file is written.
 */
export async function editManifests<One extends WantedManifest>(
  wanted: readonly One[],
  source: PromotedSource,
  run: Stoppable,
  behind: ReadonlySet<Identity> = new Set(),
): Promise<EditedManifests<One>> {
  if (wanted.length === 0) return { files: [], promoted: [], declared: [], refused: [] };
  const { changes, refused } = await changesFor(wanted, { ...source, behind }, run);
  const files = changes.map((change) => ({ change, text: changedText(change) }));
  const failed = files.filter(({ text }) => text === null).flatMap(({ change }) => [...change.identities]);
  const texts = new Map(files.flatMap(({ change: { path }, text }) => (text === null ? [] : [[path, text] as const])));
  const left = new Set([...failed, ...refused.map(({ identity }) => identity)]);
  const edited = wanted.filter(({ identity }) => !left.has(identity));
  const { faults, declared } = await rendered(edited, texts, source, run);
  const again = new Set([...failed, ...faults.keys()]);
  // Where patches that are there cannot say it, one behind them may.
  if (!again.isSubsetOf(behind)) return editManifests(wanted, source, run, behind.union(again));
  if (again.size > 0) {
    const kept = edited.filter(({ identity }) => !again.has(identity));
    const rest = await editManifests(kept, source, run, behind);
    const notMade = wanted.filter(({ identity }) => again.has(identity));
    const why = notMade.map((one) => notEditable(one, faults.get(one.identity) ?? null));
    return { ...rest, refused: [...refused.map(({ why: reason }) => reason), ...why, ...rest.refused] };
  }
  const secret = await secretFiles(changes, source, run);
  return {
    files: changes.flatMap((change) => {
      const after = texts.get(change.path) ?? change.before;
      const { path, display, before, isNew } = change;
      return after === before ? [] : [{ path, before, after, isNew, hasSecrets: secret.has(display) }];
    }),
    promoted: edited.map((one) => ({ ...one, file: fileOf(one.identity, changes) ?? one.file })),
    declared,
    refused: refused.map(({ why }) => why),
  };
}

function fileOf(identity: Identity, changes: readonly FileEdit[]): string | null {
  return changes.find(({ identities }) => identities.has(identity))?.display ?? null;
}

function notEditable({ kind, file, changes, ...one }: WantedManifest, fault: string | null): NotPromoted {
  const fields = changes.map(({ path }) => path).join(", ");
  const because = fault === null ? "" : `${fault}; `;
  return { identity: namedAs(one), kind, why: "not-editable", detail: `${because}change ${file} by hand: ${fields}` };
}

function namedAs({ identity, from }: Pick<WantedManifest, "identity" | "from">): Identity {
  return from?.identity ?? identity;
}

type Refused = { readonly identity: Identity; readonly why: NotPromoted };
type Changes = { readonly changes: readonly FileEdit[]; readonly refused: readonly Refused[] };

async function changesFor(
  wanted: readonly WantedManifest[],
  { indexed, readerOf, behind }: PromotedSource & { readonly behind: ReadonlySet<Identity> },
  { stopping: signal }: Stoppable,
): Promise<Changes> {
  const { revision, loaded, options } = indexed;
  const { patches } = loaded.contents;
  const files = fileEdits(revision);
  const byDisplay = new Map(revision.files.map((file) => [file.display, file]));
  const refused: Refused[] = [];
  const inPlace = ({ path }: SourceFile, text: string, one: WantedManifest): DocumentChange | null => {
    const format = formatOf(path) ?? "yaml";
    const change = documentChange({ text, format }, one, options.rules.rename ?? null);
    return change !== null && editDocument(text, format, change) !== null ? change : null;
  };
  for (const one of wanted) {
    const file = byDisplay.get(one.file);
    const reader = file === undefined ? null : readerOf(file.path);
    const isPatched = patches.of(one.identity).length > 0;
    const text = file === undefined || reader !== null || isPatched ? null : await textOf(file, signal);
    const change = file === undefined || text === null ? null : inPlace(file, text, one);
    if (file !== undefined && text !== null && change !== null) {
      files.change(file, text, one.identity, change);
      continue;
    }
    const folder = options.rules.patches ?? null;
    if (isRenumbered(one) && (reader !== null || isPatched)) {
      refused.push({ identity: one.identity, why: notNumbered(one, reader) });
      continue;
    }
    const why = whyNotPatched(one, { reader, folder, folderReader: folder && readerOf(`${folder}/`) });
    if (why !== null) refused.push({ identity: one.identity, why });
    else if (folder !== null) {
      const isBehind = behind.has(one.identity);
      await intoPatches(one, { patches, folder, files, revision, isBehind, signal });
    }
  }
  return { changes: files.all(), refused };
}

function isRenumbered({ identity, as = identity }: Pick<WantedManifest, "identity" | "as">): boolean {
  return as !== identity;
}

function notNumbered(one: WantedManifest, reader: string | null): NotPromoted {
  const because = reader === null ? `a patch matches ${one.file}` : `target ${reader} reads ${one.file} too`;
  const { why, detail = "" } = notEditable(
    one,
    `${because}, and the number of a version is no field that patches change`,
  );
  return { identity: namedAs(one), kind: one.kind, why: reader === null ? why : "shared", detail };
}

type Readers = { readonly reader: string | null; readonly folder: string | null; readonly folderReader: string | null };

function whyNotPatched(one: WantedManifest, { reader, folder, folderReader }: Readers): NotPromoted | null {
  const { kind, file } = one;
  const shared = (detail: string): NotPromoted => ({ identity: namedAs(one), kind, why: "shared", detail });
  if (folder !== null && folderReader !== null)
    return shared(
      `${file} cannot be changed for this target alone: target ${folderReader} reads the patches in ${folder} too`,
    );
  if (folder !== null) return null;
  if (reader === null) return notEditable(one, null);
  return shared(`target ${reader} reads ${file} too: give this target a folder of \`patches\``);
}

type Rendered = Pick<EditedManifests<never>, "declared"> & { readonly faults: ReadonlyMap<Identity, string> };

// Read as a pass would read it: what a later patch overrides, or a check refuses, does not come out as promoted.
async function rendered(
  edited: readonly WantedManifest[],
  texts: ReadonlyMap<string, string>,
  { indexed: { revision, options, loaded: before } }: PromotedSource,
  { clock, stopping: signal }: Stoppable,
): Promise<Rendered> {
  if (edited.length === 0) return { declared: [], faults: new Map() };
  const loaded = await loadManifests(withTexts(revision, texts), options, { clock, signal });
  const declared = await readManifests(
    loaded.manifestsByIdentity.among(edited.map(({ identity, as = identity }) => as)),
    { clock, signal },
  );
  const values = new Map(declared.map(({ identity, value }) => [identity, value]));
  const newlyRefused = before.manifestsByIdentity.among(loaded.refused.flatMap(({ identity }) => identity ?? []));
  const faults = edited.flatMap(({ identity, as = identity, after }): readonly (readonly [Identity, string])[] => {
    const value = values.get(as);
    if (value === undefined) return [[identity, refusalOf(as, loaded)]];
    if (!equal(value, after)) return [[identity, "the changed files would declare something else"]];
    // Others may refer to the number that it has now.
    const broken = newlyRefused.find(({ references }) => references.some((one) => one.identity === identity));
    return as === identity || broken === undefined ? [] : [[identity, `${broken.identity} refers to ${identity}`]];
  });
  return { declared, faults: new Map(faults) };
}

function refusalOf(identity: Identity, { refused }: Loaded): string {
  const found = refused.find((one) => one.identity === identity);
  return found === undefined ? "it would be refused" : `it would be refused: ${found.message}`;
}

async function secretFiles(
  changes: readonly FileEdit[],
  { indexed: { loaded } }: PromotedSource,
  { clock, stopping: signal }: Stoppable,
): Promise<ReadonlySet<string>> {
  const changed = new Set(changes.map(({ display }) => display));
  const filesOf = ({ identity, file }: { readonly identity: Identity; readonly file: string }): readonly string[] =>
    [file, ...loaded.contents.patches.of(identity).map((patch) => patch.file.display)].filter((one) =>
      changed.has(one),
    );
  const beside = loaded.manifests.filter((manifest) => filesOf(manifest).length > 0);
  const values = await readManifests(beside, { clock, signal });
  const secret = values.filter(({ kind, value }) => {
    return secretsIn(requireKind(kindsByType, kind).shape, value).length > 0;
  });
  return new Set(secret.flatMap(filesOf));
}
