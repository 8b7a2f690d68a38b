import { type JsonObject, text } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity, Manifest, Reference } from "../core/manifest.ts";
import type { NamedList } from "../model/named-list.ts";
import { checkSemantics } from "../schema/check-semantics.ts";
import { diagnosticInFile, wordingOf } from "../source/file-diagnostic.ts";
import type { Refuse } from "./diagnostic-list.ts";
import { readManifestsBy } from "./read-manifests.ts";
import type { Rereading } from "./rereadable-file.ts";
import type { SourceManifest } from "./source-manifest.ts";

/** What a manifest was checked by, besides itself, when nothing was wrong with it. */
export type CheckBasis = {
  /** Digest of the cluster's manifest, empty for no cluster; null where it does not matter. */
  readonly cluster: string | null;
  /** `yyyy-mm-dd`; null where the day does not matter. */
  readonly day: string | null;
};

/** What checking needs, and whom it tells. */
export type Checking = {
  readonly now: Date;
  readonly add: (diagnostic: Diagnostic) => void;
  readonly refuse: Refuse;
  readonly reading: Rereading;
};

/**
 * Checks what no schema can say of each manifest, knowing the cluster that it ends up in; those that were checked by the
 * same cluster and day are not checked again. Clusters are found among all manifests. Gives what the others were checked
 * by; null where they are invalid.
 */
export async function checkEverySemantics(
  manifests: readonly CheckedManifest[],
  checking: Checking,
  among: NamedList<SourceManifest>,
): Promise<ReadonlyMap<Identity, CheckBasis | null>> {
  const findCluster = clusterFinder(among);
  const checked = new Map<Identity, CheckBasis | null>();
  const day = dayOf(checking.now);
  const isDue = (manifest: CheckedManifest) =>
    manifest.checkedBy === null || !holds(manifest.checkedBy, () => findCluster(manifest), day);
  const due = await readManifestsBy(manifests.filter(isDue), checking.reading);
  const clusters = [...new Set(due.flatMap((manifest) => findCluster(manifest) ?? []))];
  const read = await readManifestsBy(clusters, checking.reading);
  const clusterOf = new Map(read.map((cluster) => [cluster.identity, cluster]));
  for (const manifest of due) {
    const basis = await check(manifest, clusterOf.get(findCluster(manifest)?.identity ?? ""), checking, day);
    if (basis !== null || manifest.checkedBy !== null) checked.set(manifest.identity, basis);
  }
  return checked;
}

/** A manifest, and what it was checked by in an earlier pass. */
type CheckedManifest = SourceManifest & { readonly checkedBy: CheckBasis | null };

type Finding = () => SourceManifest | undefined;

function holds(known: CheckBasis, cluster: Finding, day: string): boolean {
  return (known.cluster === null || known.cluster === digestOf(cluster())) && (known.day === null || known.day === day);
}

// Undefined where the cluster's manifest has no digest: then nothing is known by it.
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
  const { faults, asked } = ask(text(value.type) ?? manifest.kind, value, { now, cluster: () => cluster?.value });
  for (const fault of faults) {
    const position = await manifest.locate(fault.pointer, reading);
    const diagnostic = diagnosticInFile(manifest.file, wordingOf(fault), position);
    if (fault.severity === "error") refuse(manifest.identity, diagnostic);
    else add(diagnostic);
  }
  const known = asked.cluster ? digestOf(cluster) : null;
  return faults.length > 0 || known === undefined ? null : { cluster: known, day: asked.now ? day : null };
}

/** What a manifest is checked by without its cluster; null where its cluster matters, or it is invalid. */
export function checkAlone(type: string, value: JsonObject, now: Date): CheckBasis | null {
  const { faults, asked } = ask(type, value, { now, cluster: null });
  return asked.cluster || faults.length > 0 ? null : { cluster: null, day: asked.now ? dayOf(now) : null };
}

/** What rules may look at; no cluster where none is known yet. */
type Around = { readonly now: Date; readonly cluster: (() => JsonObject | undefined) | null };

// What the rules look at is noted as they look: nobody has to say it twice.
function ask(type: string, value: JsonObject, { now, cluster }: Around) {
  const asked = { cluster: false, now: false };
  const context = {
    get now() {
      asked.now = true;
      return now;
    },
    get cluster() {
      asked.cluster = true;
      return cluster?.();
    },
  };
  // Without the cluster that a rule has asked for, nothing is told in the end.
  const faults = checkSemantics(type, value, context, () => cluster === null && asked.cluster);
  return { faults, asked };
}

function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

// An application names its workspace and the workspace its cluster, which names no place any more.
function clusterFinder(manifests: NamedList<SourceManifest>): (manifest: SourceManifest) => SourceManifest | undefined {
  const known = new Map<Identity, SourceManifest | undefined>();
  const find = (manifest: SourceManifest): SourceManifest | undefined => {
    if (known.has(manifest.identity)) return known.get(manifest.identity);
    // Set beforehand, so that a cycle ends here.
    known.set(manifest.identity, undefined);
    const places = manifest.references.filter(isPlace);
    const cluster =
      places.length === 0 ? manifest : first(places, ({ identity }) => placeIn(manifests.named(identity)));
    known.set(manifest.identity, cluster);
    return cluster;
  };
  const placeIn = (target: SourceManifest | undefined) => (target === undefined ? undefined : find(target));
  return find;
}

// The fields that say where a resource lives; grants say who may use it.
const PLACES = new Set(["/workspace_fqn", "/cluster_fqn"]);

const isPlace = ({ pointer }: Reference) => PLACES.has(pointer);

/** Whether a manifest names the place where its resource lives: then no other one is checked by it. */
export function isPlaced({ references }: Pick<SourceManifest, "references">): boolean {
  return references.some(isPlace);
}

function first<Item, Found>(items: readonly Item[], of: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = of(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
