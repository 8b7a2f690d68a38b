import { emptyIndex, type IndexedRevision } from "../cache/source-index.ts";
import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { type SourceDiagnostic, summariseOtherDocuments } from "../core/other-documents.ts";
import type { ReadEvent } from "../core/report/events.ts";
import { isSourceRefused } from "../core/report/source-refusal.ts";
import { isEverything, type Selection, unmatched } from "../core/selection/select.ts";
import { filesByUse } from "../manifests/check-patches.ts";
import type { Loaded, LoadOptions } from "../manifests/load-manifests.ts";
import type { SourceManifest } from "../manifests/source-manifest.ts";
import { closestName } from "../schema/closest-name.ts";
import { type CheckoutFault, checkoutWarning, uncommittedFault } from "../source/git/checkout-fault.ts";
import { defaultLimits } from "../source/limits.ts";
import type { Pace } from "../source/pacer.ts";
import type { ComparedBase, Revision } from "../source/read-source.ts";
import type { SourceConfig } from "../source/read-source-config.ts";
import type { RevisionFiles } from "../source/revision.ts";
import { filesAndGit } from "../source/source-reader.ts";
import { existingKey } from "../state/open-state.ts";
import { appliedWarnings, behindWarnings, requireMerged } from "./load/check-merged-base.ts";
import {
  changesOf,
  commitWithout,
  countSelection,
  type Desired,
  desiredOf,
  ofSelection,
  type Reported,
  type SelectionCounts,
  withoutReports,
} from "./load/desired.ts";
import { ownHistory, valuesOf } from "./load/own-history.ts";
import { hasOwnState } from "./load/own-state.ts";
import { underBasePatches } from "./load/under-base-patches.ts";
import { nearMatch, unusedRules } from "./load/unused-rules.ts";
import { loadPolicies } from "./policies/load-policies.ts";
import type { PolicySet } from "./policies/policy-set.ts";
import type { ReadPolicies } from "./policies/read-policies.ts";
import type { Stoppable } from "./run.ts";
import type { ReadTarget, Rules } from "./target.ts";

/** The rules of a pass, and whether its source has a configuration that some of them come from. */
export type ConfiguredRules = { readonly rules: Rules; readonly isConfigured: boolean };

/** The desired state of a source, with the rules from its configuration. */
export type DesiredRead = ConfiguredRules & {
  /** Whether it is the revision applied last, in place of a refused one. @default false */
  readonly isLastApplied?: boolean;
  readonly desired: Desired;
  /** What judges a plan of it. */
  readonly policies: ReadPolicies & PolicySet;
  /** Every valid manifest of the source, selected or not. */
  readonly manifests: readonly SourceManifest[];
  readonly event: ReadEvent;
  readonly counts: SelectionCounts;
  /** Why the checkout must not be applied; null where it may. */
  readonly checkoutFault: CheckoutFault | null;
  /** The revision behind it, so that a similar next revision is read faster; null where none will be read. */
  readonly from: IndexedRevision | null;
};

/** How a source is read. */
export type SourceReading = {
  /**
   * The previous read, so that only the differences of a commit are read; null for the first of several revisions. Absent
   * where only one revision is read.
   */
  readonly before?: DesiredRead | null;
  /** Whether to check that a checkout is in the clean state of its branch. @default false */
  readonly checksBranch?: boolean;
  /** Called with the configuration and its rules before any file is read; may refuse them. */
  readonly onConfig?: (config: ConfiguredRules) => void;
};

/** Reads, validates and selects what a target's source declares. */
export async function load(
  target: ReadTarget,
  { clock, stopping }: Stoppable,
  reading: SourceReading = {},
): Promise<DesiredRead> {
  const pace = { clock, signal: stopping };
  const lastRead = reading.before?.from ?? null;
  const before = lastRead ?? (target.sourceCache === null ? null : (target.takeRead?.() ?? null));
  const { reader = filesAndGit } = target.source;
  using source = await reader.read(
    { ...target.source, limits: defaultLimits, before: before?.revision ?? null },
    (config) => prepareRead(target, config, reading, { clock, stopping }),
    pace,
  );
  const { revision, prepared } = source;
  const { rules, index } = prepared;
  const indexed = await index.update(before, revision, pace);
  const { loaded, options: loading } = indexed;
  const { contents } = loaded;
  const baseFiles = source.base && (await source.base.read());
  const policies = await policiesOf(target, revision, baseFiles, pace);
  const found = withConfigFaults(loaded, revision.config);
  const general = [...emptySource(found), ...unused(found, revision, target, rules), ...policies.diagnostics];
  const reported = { ...found, diagnostics: [...target.source.warnings(), ...found.diagnostics, ...general] };
  requireMatches(rules.selection, reported, revision);
  if (loaded.declared !== lastRead?.loaded.declared) await target.claim?.(loaded.declared);
  const base = source.base &&
    baseFiles && {
      ...source.base,
      loaded: await index.load(baseFiles, pace),
    };
  index.keep(indexed, base?.loaded ?? null);
  if (base !== null) requireMerged(base, { merged: loaded, atBase: base.loaded });
  const commit = revision.commit ?? commitWithout(revision, contents);
  const fault = source.checkoutFault ?? (prepared.ref === null ? null : uncommittedFault({ ...revision, commit }));
  const warnings = base === null ? [] : [...behindWarnings(base), ...appliedWarnings(base)];
  const behind = fault === null ? warnings : [...warnings, checkoutWarning(fault)];
  const loadFiles = (files: RevisionFiles) => index.load(files, pace);
  const applied = base && (await readApplied(base, loadFiles, pace));
  const desired = desiredOf(
    reported,
    { ...revision, commit, ...changesOf(revision, contents) },
    {
      rules,
      base: base && (await valuesOf(base.loaded, pace)),
      ...(base && { underBasePatches: await underBasePatches(loaded, base.loaded, pace) }),
      applied,
      declaredElsewhere: target.declaredElsewhere ?? null,
      history: historyOf(target, revision, { base, rules, loading, load: loadFiles, pace }),
      filesPlace: filesPlaceOf(target),
      behind,
    },
  );
  return {
    rules,
    isConfigured: revision.config.isPresent,
    desired,
    policies: { ...policies, target: target.name ?? "default" },
    counts: countSelection(withoutReports(contents), desired, rules.selection),
    checkoutFault: fault,
    manifests: loaded.manifests,
    event: {
      ...readEvent(reported, behind, rules, revision),
      revision: commit,
      ...(hasErrors(policies.diagnostics) ? { hasFaultyPolicies: true } : {}),
      ...followedCommit(revision),
      knownFiles: indexed.known,
    },
    from: reading.before === undefined ? null : indexed,
  };
}

function policiesOf(
  { source: { cwd } }: ReadTarget,
  revision: Revision,
  base: RevisionFiles | null,
  { signal }: Pace,
): Promise<ReadPolicies> {
  return loadPolicies({ folders: revision.config.policies, revision, base, cwd, signal });
}

async function prepareRead(
  target: ReadTarget,
  config: SourceConfig,
  { checksBranch = false, onConfig = () => undefined }: SourceReading,
  { clock, stopping }: Stoppable,
) {
  const { source, sourceCache, state } = target;
  source.accept(config);
  const rules = target.rules(config.repository);
  onConfig({ rules, isConfigured: config.isPresent });
  // Checked before each pass, since the last change of a followed source may have added a state folder.
  const isOwn = await hasOwnState(target, stopping);
  // Also read without a cache, so that a key that cannot be trusted is always refused.
  const key = isOwn ? await existingKey(state.folder, state.readKey()) : null;
  const loading = { rules: rules.load, limits: defaultLimits, now: new Date(clock.now()) };
  const index = isOwn && sourceCache !== null ? sourceCache.open(loading, key) : emptyIndex(loading);
  const ref = checksBranch && source.commits === null && source.base === null ? rules.ref : null;
  return { rules, index, ignore: [state.folder, ...source.ignore], knownFiles: index.knownFiles, ref };
}

// Where `paths` says which files are manifests, a document of a type of ours that is another tool's is a warning.
function withConfigFaults(loaded: Omit<Loaded, "contents">, { diagnostics, repository }: SourceConfig): Reported {
  const isChosen = repository.paths !== undefined;
  const { other: otherDocuments = [], ours = [] } = Object.groupBy(loaded.diagnostics, (one) =>
    one.otherDocuments === undefined || (isChosen && one.otherDocuments.hasOurType) ? "ours" : "other",
  );
  return { ...loaded, diagnostics: [...diagnostics, ...ours.map(withoutOtherDocuments)], otherDocuments };
}

function withoutOtherDocuments({ otherDocuments: _, ...diagnostic }: SourceDiagnostic): Diagnostic {
  return diagnostic;
}

// What has an error may declare something.
function emptySource({ files, documents, diagnostics }: Reported): readonly Diagnostic[] {
  if (documents > 0 || hasErrors(diagnostics)) return [];
  const summary = files === 0 ? "no manifest files were found" : "the source declares nothing";
  return [{ severity: "warning", code: "empty-source", summary, detail: null, file: null, line: null, column: null }];
}

// An invalid manifest may be the one that a rule matches.
function unused(
  reported: Reported,
  { config, files }: Revision,
  { gates }: ReadTarget,
  { selection }: Rules,
): readonly Diagnostic[] {
  if (hasErrors(reported.diagnostics)) return [];
  return unusedRules({ ...reported, files: () => files.map(({ path }) => path) }, config, selection, gates?.gates);
}

function requireMatches(selection: Selection, { declared }: Reported, { files, root }: Revision): void {
  if (isEverything(selection)) return;
  const displays = files.map(({ display }) => display);
  const [unknown] = unmatched(declared, selection, displays);
  if (unknown === undefined) return;
  const near = selection.only.includes(unknown) ? nearMatch(unknown, declared) : closestName(unknown, displays);
  const guess = near === undefined ? "" : `did you mean ${near}? `;
  throw new HoldfastError("invalid", `${unknown} matches nothing in the source ${root}`, {
    hint: `${guess}paths and --only select within the source; name another one with --source`,
  });
}

// The commits of a repository that is followed have no model files.
function filesPlaceOf({ source: { root, cwd, commits }, modelRoot }: ReadTarget): Desired["filesPlace"] {
  return { source: commits === null ? root : null, modelRoot: modelRoot ?? null, cwd };
}

type HistoryReading = {
  readonly base: ComparedBase | null;
  readonly rules: Rules;
  readonly loading: LoadOptions;
  readonly load: (files: RevisionFiles) => Promise<Loaded>;
  readonly pace: Pace;
};

// With a base, its line is read: what the branch itself changes is not applied yet.
function historyOf(
  { source }: ReadTarget,
  revision: Revision,
  { base, rules, loading, load, pace }: HistoryReading,
): Desired["history"] {
  const tip = base?.commit ?? revision.commit ?? revision.changedSince?.commit ?? null;
  if (tip === null) return null;
  const uncommitted = base === null && revision.commit === null ? revision : null;
  const { paths } = revision.config.repository;
  const applied = base === null ? (source.applied ?? null) : null;
  const place = { ...source, limits: defaultLimits, most: rules.history, tip, paths, uncommitted, applied };
  const { patchFiles } = filesByUse(revision.files, loading.rules);
  const { reader = filesAndGit } = source;
  return ownHistory(place, { ...loading, patchFiles }, { load, readHistory: reader.history }, pace);
}

// Usually the last applied commit is the base, which is loaded already.
async function readApplied(
  { applied, commit, loaded, readCommit }: ComparedBase & { readonly loaded: Loaded },
  loadFiles: (files: RevisionFiles) => Promise<Loaded>,
  pace: Pace,
): Promise<Desired["applied"]> {
  if (applied?.is !== "trusted") return null;
  return valuesOf(applied.commit === commit ? loaded : await loadFiles(await readCommit(applied.commit)), pace);
}

function followedCommit({ commit, since }: Revision): Pick<ReadEvent, "follows"> {
  return commit === null || since?.isNext !== true ? {} : { follows: { commit, parent: since.commit } };
}

function readEvent(
  { manifests, diagnostics, otherDocuments, files, documents }: Reported,
  behind: readonly Diagnostic[],
  rules: Rules,
  { config: { repository, policies }, leftOut, isLeftOutMore }: Revision,
): Omit<ReadEvent, "revision" | "knownFiles" | "follows"> {
  const { selection, strict, partial } = rules;
  return {
    what: "read",
    diagnostics: [...behind, ...diagnostics],
    selected: [...behind, ...ofSelection(diagnostics, selection)],
    otherDocuments: summariseOtherDocuments(ofSelection(otherDocuments, selection)),
    paths: repository.paths === undefined ? null : [...new Set([...repository.paths, ...policies.folders])],
    files,
    leftOut,
    ...(isLeftOutMore ? { isLeftOutMore } : {}),
    manifests: manifests.length,
    documents,
    // Being behind the base refuses nothing, even with --strict: the plan is for the merge result.
    isRefused: isSourceRefused(diagnostics, { strict, partial }),
  };
}
