import { knownInSync, type RowsRead, resourcesToRead } from "../cache/known-in-sync.ts";
import type { LiveFacts } from "../cache/live-facts.ts";
import type { RegistryOnly } from "../contract/generated/output.ts";
import { compareText } from "../contract/json.ts";
import type { Access } from "../core/access.ts";
import type { RuleFinder } from "../core/ignore/ignore-rules.ts";
import { type Kind, kindIn, parentOf } from "../core/kind.ts";
import { type Identity, splitIdentity, splitVersion } from "../core/manifest.ts";
import { knownIn } from "../core/plan/orphans.ts";
import { registryOnlyOf } from "../core/plan/registry-only.ts";
import { sightOf } from "../core/sight.ts";
import { kindOf, kindsByType } from "../kinds/index.ts";
import type { ReceiptContents, ReceiptHead } from "../state/ledger.ts";
import type { Desired } from "./load/desired.ts";
import { type ObservedFiles, withObservedFiles } from "./model-files/observe-files.ts";
import { createDryRun } from "./observe/dry-run.ts";
import { concluded, guardLive, withoutStale } from "./observe/judge-live.ts";
import { NO_DIGESTS, readDigests } from "./observe/read-digests.ts";
import { type LiveQuery, type Observation, readCaller, readLive, type WavedSource } from "./observe/read-live.ts";
import { readUndecided, withValues, withWaves } from "./observe/read-undecided.ts";
import { elsewhereOf, type OrphanSearch, orphansIn, removedFromSource } from "./observe/removed-manifests.ts";
import { type ResolvedValues, resolveValues } from "./observe/resolve-values.ts";
import { withTakenNames } from "./observe/taken-names.ts";
import type { Stoppable } from "./run.ts";
import type { ReadAccess } from "./session.ts";
import type { PlanRules } from "./target.ts";

/** What is recorded of the resources of a pass. */
export type Records = {
  /** The unsealed part of every receipt. */
  readonly heads: ReadonlyMap<Identity, ReceiptHead>;
  readonly ledger: ReceiptContents;
};

/** What of live and of the manifests is read. */
export type ReadScope = {
  /** What earlier passes have learned of live; null where everything must be read. */
  readonly facts: LiveFacts | null;
  /** Whether a resource in sync must also have a receipt, since equal resources are to be recorded. */
  readonly needsReceipts: boolean;
  /** Whether each resource is read by itself instead of whole lists, since few are requested. */
  readonly readsEach: boolean;
  /** Whether resources that the source no longer declares are looked for. */
  readonly seeksOrphans: boolean;
  /** Resources whose manifests are read even where they are in sync, since a later phase needs them. */
  readonly values: ReadonlySet<Identity>;
  /** Whether values that manifests name by reference are read, to compare them with what was written. */
  readonly resolvesValues: boolean;
};

/** Everything that is declared, read again. */
export const EVERYTHING: ReadScope = {
  facts: null,
  needsReceipts: false,
  readsEach: false,
  seeksOrphans: true,
  values: new Set(),
  resolvesValues: false,
};

/** The values that live is read with. */
export type Observing = {
  readonly server: ReadAccess;
  readonly records: Records;
  readonly scope: ReadScope;
  readonly rules: PlanRules;
  readonly run: Stoppable;
};

/** What is declared, recorded and live, as far as a plan of it needs. */
export type Observed = ObservedFiles & {
  readonly desired: Desired;
  /** The manifests in order, read where they are not in sync. */
  readonly waved: readonly WavedSource[];
  /** Every receipt, opened where a decision depends on it. */
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** The ignore rules in force. */
  readonly rulesFor: RuleFinder;
  readonly observation: Observation;
  /** The kinds whose live state was requested. */
  readonly requested: readonly Kind[];
  readonly orphans: OrphanSearch;
  /** The same with stand-ins for the values that manifests name by reference. */
  readonly withStandIns: ResolvedValues["apply"];
  /** The versions of prompts and models that the control plane holds and git does not; null where only a part is looked at. */
  readonly registryOnly: readonly RegistryOnly[] | null;
  /** The subject and permissions of the token; null where the control plane does not report them. */
  readonly access: Access | null;
  /** What the next pass need not read again; null without the facts of earlier ones. */
  readonly rowsRead: RowsRead | null;
};

/** Reads live of what is declared, recorded and referred to, and opens what a decision about it needs. */
export async function observe(
  declared: Desired,
  { server, records, scope, rules, run: { clock, stopping: signal } }: Observing,
): Promise<Observed> {
  const pace = { clock, signal };
  const { capabilities } = server;
  const { concurrency } = rules;
  const shown = orphansIn(declared, scope);
  const { removed, reach } = await removedFromSource(declared, records.heads, { shown, capabilities, signal });
  const { facts } = scope;
  const basis = { recorded: records.heads, records: scope.needsReceipts, ledger: records.ledger };
  const stale = facts && resourcesToRead(facts, { ...basis, manifests: declared.manifests, alsoRead: removed.keys() });
  // Whether a value has changed shows neither in the manifest that names it nor in live.
  const isResolved = (identity: Identity): boolean => kindIn(kindsByType, identity)?.values !== undefined;
  const resolved = declared.manifests.flatMap(({ identity }) => (isResolved(identity) ? [identity] : []));
  const toRead = resolved.length === 0 ? stale : (stale?.union(new Set(resolved)) ?? null);
  const isNeeded = (identity: Identity): boolean => scope.values.has(identity) || (toRead?.has(identity) ?? true);
  const desired = await withValues(declared, isNeeded, pace);
  const compared = { base: desired.base, applied: appliedIn(desired, records.heads), recorded: records.heads, removed };
  const mayBe: ReadonlySet<Identity> = shown === "none" ? new Set() : knownIn(compared);
  const queries = liveQueries(desired, withWaves(desired), {
    ...scope,
    recorded: records.heads,
    mayBeOrphans: mayBe,
    isKnown: (identity) => desired.declared.has(identity) || mayBe.has(identity),
  });
  // A commit that changes nothing of this target asks for nothing: it may be one of hundreds.
  const isUntouched = declared.outOfScope !== undefined && queries.length === 0;
  const asking = { reader: server.reader, capabilities, signal };
  // Whether a server is a control plane at all is judged by its lists, so one that has never taken a write is asked for no digest.
  const asksDigests = !isUntouched && facts !== null && records.heads.size > 0;
  // Before the lists, so that what changes in between has another digest in the next pass.
  const told = asksDigests ? await readDigests(asking) : null;
  const asked = told?.caller ?? (isUntouched ? null : readCaller(asking));
  const digests = told?.digests ?? NO_DIGESTS;
  const changes = toRead && { toRead, digests };
  const known = facts && changes && knownInSync(facts, changes, { ...basis, manifests: desired.manifests });
  const reading = { ...asking, dryRun: createDryRun(server, concurrency), known, concurrency };
  const [access, seen] = await Promise.all([asked, readLive(queries, reading)]);
  const live = concluded(seen, seen.dryRuns, sightOf(access), capabilities);
  const current = withoutStale(live, desired, { recorded: records.heads, now: clock.now() });
  guardLive(current, desired, { recorded: records.heads, capabilities, rules });
  const named = await withTakenNames(queries, current, reading);
  const unread = await readUndecided(desired, named.inSync, { records, ignore: rules.ignore, pace });
  const found = await withObservedFiles(unread, named.live, { ...pace, known: server.fileDigests });
  const isReading = scope.resolvesValues && desired.base === null && server.values.isReadable;
  const resolving = { server, ledger: records.ledger, isReading, signal };
  const { apply: withStandIns, observation } = await resolveValues({ ...found, observation: named }, resolving);
  const undecided = withStandIns(found);
  const elsewhere = await elsewhereOf(mayBe, { ...desired, live: observation.live });
  const rows = observation.live.values().flatMap((live) => (live.state === "present" ? [live.row] : []));
  const requested = queries.map(({ kind }) => kind);
  return {
    ...undecided,
    observation,
    requested,
    orphans: { shown, mayBe, removed, reach, elsewhere },
    withStandIns,
    registryOnly: shown === "listed" ? await registryOnlyBeside(desired, observation) : null,
    access,
    rowsRead: known?.rowsRead(rows) ?? null,
  };
}

/** The manifests of the applied commit, where they replace records that are missing. */
export function appliedIn({ applied }: Desired, recorded: ReadonlyMap<Identity, unknown>): Desired["applied"] {
  return recorded.size === 0 ? applied : null;
}

type Requested = {
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** Whether each resource is read by itself instead of whole lists. */
  readonly readsEach: boolean;
  /** Identities that may be orphans, where the plan shows them. */
  readonly mayBeOrphans: Iterable<Identity>;
  readonly isKnown: (identity: Identity) => boolean;
};

/** The live state that a plan needs: of declared and recorded resources, and of references to other ones. */
function liveQueries(
  desired: Desired,
  waved: readonly WavedSource[],
  { recorded, mayBeOrphans, readsEach, isKnown }: Requested,
): readonly LiveQuery[] {
  const groups = new Map<Kind, { declared: WavedSource[]; others: Identity[] }>();
  const groupOf = (type: string) => {
    const kind = kindOf(type);
    if (kind === undefined) return null;
    const known = groups.get(kind);
    if (known !== undefined) return known;
    const group = { declared: [], others: [] };
    groups.set(kind, group);
    return group;
  };
  for (const one of waved) groupOf(one.manifest.kind)?.declared.push(one);
  for (const identity of othersOf(desired, mayBeOrphans)) groupOf(splitIdentity(identity).kind)?.others.push(identity);
  const idOf = (identity: Identity): string | null => recorded.get(identity)?.id ?? null;
  const isRecorded = (identity: Identity): boolean => recorded.has(identity);
  return [...groups].map(([kind, group]) => ({ kind, ...group, isRecorded, isKnown, idOf, readsEach }));
}

// The lists have been read anyway. What other targets declare is asked for only where a list shows what this one does not.
async function registryOnlyBeside(
  { declared, declaredElsewhere }: Desired,
  { unknownVersions }: Observation,
): Promise<readonly RegistryOnly[]> {
  const kinds = new Set([...declared].map((identity) => splitIdentity(identity).kind));
  const managed = [...kinds].filter((kind) => kindOf(kind)?.hasVersions).toSorted(compareText);
  const unknown = managed.flatMap((kind) => unknownVersions.get(kind) ?? []);
  const asked = new Set(unknown.flatMap((identity) => [identity, splitVersion(identity).name]));
  const elsewhere = asked.size === 0 ? undefined : await declaredElsewhere?.(asked);
  return managed.flatMap(
    (kind) => registryOnlyOf(kind, unknownVersions.get(kind) ?? null, elsewhere ?? new Set()) ?? [],
  );
}

/** Resources that are referred to or were declared earlier, but not declared here. */
function othersOf(
  { manifests, waves, isWhole, declared }: Desired,
  mayBeOrphans: Iterable<Identity>,
): readonly Identity[] {
  // Each manifest has a wave. With equally many waves, their identities are those of the manifests.
  const isAlone = waves.size === manifests.length;
  const known = isAlone ? waves : new Set(manifests.map(({ identity }) => identity));
  const others = new Set<Identity>();
  // Whether a resource is absent may depend on what contains it.
  const add = (identity: Identity): void => {
    if (known.has(identity) || others.has(identity)) return;
    others.add(identity);
    const parent = parentOf(identity, kindsByType);
    if (parent !== null) add(parent);
  };
  // Whether a secret exists is asked for itself: its group is not enough.
  const isAsked = (identity: Identity): boolean => kindIn(kindsByType, identity)?.values === undefined;
  for (const { references } of manifests) for (const { identity } of references) if (isAsked(identity)) add(identity);
  // What is declared and not selected is no orphan.
  for (const identity of mayBeOrphans) if (isWhole || !declared.has(identity)) add(identity);
  return [...others].toSorted(compareText);
}
