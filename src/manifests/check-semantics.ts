// src/manifests: a revision as declared, validated and resolved manifests. See docs/manifests.md#checks-across-files.

import { type JsonObject, text } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity, Manifest, Reference } from "../core/manifest.ts";
import type { NamedList } from "../model/named-list.ts";
import { checkSemantics } from "../schema/check-semantics.ts";
import type { RuleContext } from "../schema/rule.ts";
import type { SchemaDiagnostic } from "../schema/schema-diagnostic.ts";
import { diagnosticInFile, keyOrValue, wordingOf } from "../source/file-diagnostic.ts";
import type { Pace } from "../source/pacer.ts";
import type { Refuse } from "./diagnostic-list.ts";
import { readManifestsBy } from "./read-manifests.ts";
import type { FieldPlace, Rereading, SourceManifest } from "./source-manifest.ts";

/** What the result of a check depended on, apart from the manifest itself, when the manifest passed. */
export type CheckBasis = {
  /** Digest of the cluster's manifest, empty if there is no cluster; null if no rule used the cluster. */
  readonly cluster: string | null;
  /** `yyyy-mm-dd`; null if no rule used the date. */
  readonly day: string | null;
};

/** What checking needs, and where it reports diagnostics. */
export type Checking = {
  readonly now: Date;
  readonly add: (diagnostic: Diagnostic) => void;
  readonly refuse: Refuse;
  readonly reading: Rereading & Pace;
};

/**
 * Checks each manifest against the rules that a schema cannot express; a rule may use the cluster that the resource
 * runs in, which is searched among all manifests. Manifests that were already checked with the same cluster and day are
 * skipped. Returns what the other results depended on; null for invalid manifests.
 */
export async function checkEverySemantics(
  manifests: readonly CheckedManifest[],
  checking: Checking,
  all: NamedList<SourceManifest>,
): Promise<ReadonlyMap<Identity, CheckBasis | null>> {
  const findCluster = clusterFinder(all);
  const checked = new Map<Identity, CheckBasis | null>();
  const day = dayOf(checking.now);
  const needsCheck = (manifest: CheckedManifest) =>
    manifest.checkedBy === null || !isStillValid(manifest.checkedBy, () => findCluster(manifest), day);
  const due = await readManifestsBy(manifests.filter(needsCheck), checking.reading);
  const clusters = [...new Set(due.flatMap((manifest) => findCluster(manifest) ?? []))];
  const read = await readManifestsBy(clusters, checking.reading);
  const clusterOf = new Map(read.map((cluster) => [cluster.identity, cluster]));
  for (const manifest of due) {
    const basis = await check(manifest, clusterOf.get(findCluster(manifest)?.identity ?? ""), checking, day);
    if (basis !== null || manifest.checkedBy !== null) checked.set(manifest.identity, basis);
  }
  return checked;
}

/** A manifest, and what its checks in an earlier pass depended on. */
type CheckedManifest = SourceManifest & { readonly checkedBy: CheckBasis | null };

function isStillValid(known: CheckBasis, cluster: () => SourceManifest | undefined, day: string): boolean {
  return (known.cluster === null || known.cluster === digestOf(cluster())) && (known.day === null || known.day === day);
}

// Undefined if the cluster's manifest has no digest: then the result cannot be reused.
function digestOf(cluster: SourceManifest | undefined): string | undefined {
  return cluster === undefined ? "" : cluster.digest;
}

async function check(
  manifest: SourceManifest & Manifest,
  cluster: (SourceManifest & Manifest) | undefined,
  { now, add, refuse, reading }: Checking,
  day: string,
): Promise<CheckBasis | null> {
  const { value } = manifest;
  const { faults, used } = runRules(text(value.type) ?? manifest.kind, value, { now, cluster: () => cluster?.value });
  for (const fault of faults) {
    const position = await placeOf(fault, manifest, { now, cluster: () => cluster?.value }, reading);
    const isElsewhere = position.file !== manifest.file;
    const diagnostic = {
      ...diagnosticInFile(position.file, wordingOf(fault), position),
      ...(isElsewhere ? { related: [{ file: manifest.file, line: manifest.line, column: 1 }] } : {}),
    };
    if (fault.severity === "error") refuse(manifest.identity, diagnostic);
    else add(diagnostic);
  }
  const known = used.usesCluster ? digestOf(cluster) : null;
  return faults.length > 0 || known === undefined ? null : { cluster: known, day: used.usesNow ? day : null };
}

// What patches have made wrong is their error, also where it shows in a field of the manifest.
async function placeOf(
  fault: SchemaDiagnostic,
  { file, kind, value, locate, patched }: SourceManifest & Manifest,
  input: RuleInput,
  reading: Rereading,
): Promise<FieldPlace> {
  const place = await locate(fault.pointer, reading, keyOrValue(fault));
  if (patched === undefined || fault.severity !== "error" || place.file !== file) return place;
  const own = runRules(text(value.type) ?? kind, await patched.unpatched(reading), input).faults;
  return own.some(({ code, message }) => code === fault.code && message === fault.message) ? place : patched.place;
}

/** What checking a manifest without its cluster depended on; null if a rule needs the cluster, or if it is invalid. */
export function checkAlone(type: string, value: JsonObject, now: Date): CheckBasis | null {
  const { faults, used } = runRules(type, value, { now, cluster: null });
  return used.usesCluster || faults.length > 0 ? null : { cluster: null, day: used.usesNow ? dayOf(now) : null };
}

/** What rules may use; `cluster` is null if it is not known yet. */
type RuleInput = { readonly now: Date; readonly cluster: (() => JsonObject | undefined) | null };

function runRules(type: string, value: JsonObject, input: RuleInput) {
  const used = new RuleUse(input);
  // If a rule needs the cluster and it is not known yet, checking stops and its result is discarded.
  const faults = checkSemantics(type, value, used, () => input.cluster === null && used.usesCluster);
  return { faults, used };
}

/** Notes what the rules use, so that no rule has to declare it. */
class RuleUse implements RuleContext {
  usesCluster = false;
  usesNow = false;
  readonly #input: RuleInput;

  constructor(input: RuleInput) {
    this.#input = input;
  }

  get now(): Date {
    this.usesNow = true;
    return this.#input.now;
  }

  get cluster(): JsonObject | undefined {
    this.usesCluster = true;
    return this.#input.cluster?.();
  }
}

function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

// An application names its workspace, the workspace names its cluster, and the cluster has no parent.
function clusterFinder(manifests: NamedList<SourceManifest>): (manifest: SourceManifest) => SourceManifest | undefined {
  const known = new Map<Identity, SourceManifest | undefined>();
  const find = (manifest: SourceManifest): SourceManifest | undefined => {
    if (known.has(manifest.identity)) return known.get(manifest.identity);
    // Set first, so that a cycle ends here.
    known.set(manifest.identity, undefined);
    const parents = manifest.references.filter(isParent);
    const cluster =
      parents.length === 0 ? manifest : first(parents, ({ identity }) => clusterOf(manifests.named(identity)));
    known.set(manifest.identity, cluster);
    return cluster;
  };
  const clusterOf = (target: SourceManifest | undefined) => (target === undefined ? undefined : find(target));
  return find;
}

// Fields that name the parent of a resource. Grants name resources too, but only decide who may use it.
const PARENT_FIELDS = new Set(["/workspace_fqn", "/cluster_fqn"]);

const isParent = ({ pointer }: Reference) => PARENT_FIELDS.has(pointer);

/** Whether a manifest names a parent. Then it is not a cluster, and checks of other manifests do not depend on it. */
export function hasParent({ references }: SourceManifest): boolean {
  return references.some(isParent);
}

function first<Item, Found>(items: readonly Item[], of: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
