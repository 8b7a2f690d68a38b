import type { ListedRow } from "../../cache/list-reader.ts";
import { ClientError, isOutOfReach } from "../../client/client-error.ts";
import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Caller } from "../../contract/generated/resources.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { operations } from "../../contract/operations.ts";
import { type Access, readAccess } from "../../core/access.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import { type Diagnostic, UNREACHED } from "../../core/diagnostic.ts";
import type { Kind, SingleReading } from "../../core/kind.ts";
import { exists, type InSync, type Live } from "../../core/live.ts";
import { type Identity, type Manifest, splitIdentity, splitVersion } from "../../core/manifest.ts";
import type { WavedManifest } from "../../core/plan/plan-input.ts";
import { kindOf } from "../../kinds/index.ts";
import { readManifest } from "../../manifests/read-manifests.ts";
import type { SourceManifest, UnparsedManifest } from "../../manifests/source-manifest.ts";
import { confirmAbsent, type MissingFromList } from "./confirm-absent.ts";
import type { DryRun } from "./dry-run.ts";
import { type ListAccess, listLive } from "./list-live.ts";
import { readById } from "./read-by-id.ts";

/** A declared resource, and its depth in the reference graph. */
export type WavedSource = WavedManifest & { readonly manifest: SourceManifest };

/** The resources of a kind whose live state is requested. */
export type LiveQuery = {
  readonly kind: Kind;
  readonly declared: readonly WavedSource[];
  /** Recorded or referred to, but not declared. */
  readonly others: readonly Identity[];
  readonly isRecorded: (identity: Identity) => boolean;
  /** Whether a manifest declares it, or has done so. */
  readonly isKnown: (identity: Identity) => boolean;
  /** The id in the ledger. */
  readonly idOf: (identity: Identity) => string | null;
  /** Whether its list is filtered for each resource, since few are requested. */
  readonly readsEach: boolean;
};

/** A resource whose live state is requested: declared (with its manifest), recorded, or only referred to. */
type Wanted = {
  readonly identity: Identity;
  readonly kind: Kind;
  readonly manifest: Manifest | UnparsedManifest | null;
  /** The id in the ledger. */
  readonly id: string | null;
  readonly wave: number;
};

/** The observed live state. */
export type Observation = {
  readonly live: ReadonlyMap<Identity, Live>;
  /** Resources that were in sync in an earlier pass and have not changed since. */
  readonly inSync: InSync;
  /** Replies of the dry runs that were needed to find ids. */
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** False when a read failed. */
  readonly complete: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** By kind with numbered versions: those of its list that are not known; no entry where the list was not read whole. */
  readonly unknownVersions: ReadonlyMap<string, readonly Identity[]>;
};

/** How live is read. */
export type LiveReading = ListAccess & {
  readonly capabilities: ServerCapabilities;
  readonly dryRun: DryRun;
  readonly concurrency: number;
};

type ObservationDraft = {
  readonly live: Map<Identity, Live>;
  readonly inSync: Map<Identity, "live" | "ledger">;
  readonly dryRuns: Map<Identity, DryRunReply>;
  readonly diagnostics: Diagnostic[];
  readonly unknownVersions: Map<string, readonly Identity[]>;
};

function emptyDraft(): ObservationDraft {
  return { live: new Map(), inSync: new Map(), dryRuns: new Map(), diagnostics: [], unknownVersions: new Map() };
}

/** Reads the live state of all resources: by lists where the server has them, otherwise one by one. */
export async function readLive(asked: readonly LiveQuery[], context: LiveReading): Promise<Observation> {
  const found = emptyDraft();
  const unresolved = await Promise.all(
    asked.map(async (group) => ((await byLists(group, context, found)) ? [] : byIds(wantedOf(group), context, found))),
  );
  // Read before the dry runs, so that these ask the control plane and nothing else.
  await byDryRuns(await withManifests(unresolved.flat(), context.signal), context, found);
  return { ...found, complete: found.diagnostics.length === 0 };
}

/** Reads live of one resource again, without the cache, to verify a write. */
export async function observeOne(one: Wanted, context: LiveReading): Promise<Live> {
  const found = emptyDraft();
  const { name } = splitVersion(splitIdentity(one.identity).key);
  const narrow = one.kind.list?.narrow?.(name) ?? {};
  const asked = {
    kind: one.kind,
    declared: [],
    others: [one.identity],
    isRecorded: () => false,
    isKnown: () => true,
    idOf: () => null,
    readsEach: false,
  };
  if (!(await byList(asked, context, found, narrow)))
    await byDryRuns(await withManifests(await byIds([one], context, found), context.signal), context, found);
  return found.live.get(one.identity) ?? { state: "unknown", reason: "no-read" };
}

function wantedOf({ kind, declared, others, idOf }: LiveQuery): readonly Wanted[] {
  const wanted = declared.map(({ manifest, wave }): Wanted => {
    const { identity } = manifest;
    return { identity, kind, manifest, id: idOf(identity), wave };
  });
  return wanted.concat(others.map((identity) => ({ identity, kind, manifest: null, id: idOf(identity), wave: 0 })));
}

// Reads the whole list once for a kind; where few are requested, the list filtered for each of them.
async function byLists(asked: LiveQuery, context: LiveReading, found: ObservationDraft): Promise<boolean> {
  const narrow = asked.kind.list?.narrow;
  if (!asked.readsEach || narrow === undefined) return byList(asked, context, found);
  const each = [
    ...asked.declared.map((one) => ({ ...asked, declared: [one], others: [], identity: one.manifest.identity })),
    ...asked.others.map((identity) => ({ ...asked, declared: [], others: [identity], identity })),
  ];
  let isListed = true;
  await forEachConcurrently(each, context.concurrency, async ({ identity, ...one }) => {
    const { name } = splitVersion(splitIdentity(identity).key);
    isListed = (await byList(one, context, found, narrow(name))) && isListed;
  });
  return isListed;
}

async function byList(
  asked: LiveQuery,
  context: LiveReading,
  found: ObservationDraft,
  narrow: { readonly [name: string]: string } = {},
): Promise<boolean> {
  const { kind, declared, others, isRecorded, idOf } = asked;
  const { list } = kind;
  if (list === undefined || !context.capabilities.has(list.operation)) return false;
  const identities = { declared: declared.map(({ manifest }) => manifest.identity), others };
  try {
    const { live, inSync, rows } = await listLive({ kind, list, narrow }, identities, context);
    for (const identity of inSync) found.inSync.set(identity, "live");
    const isWhole = Object.keys(narrow).length === 0;
    if (kind.hasVersions && isWhole) found.unknownVersions.set(kind.type, unknownVersions(asked, rows));
    const lacking: Identity[] = [];
    for (const [identity, one] of live) {
      found.live.set(identity, one);
      if (one.state === "absent" && isRecorded(identity)) lacking.push(identity);
    }
    if (lacking.length > 0) await confirmMissing({ kind, list, identities: lacking, idOf }, context, found);
    return true;
  } catch (error) {
    // A documented list that seems to be missing could not be read.
    if (isRouteMissing(error) && !context.capabilities.has(list.operation)) return false;
    // A list whose rows lack needed fields is not used, if the kind has another read.
    if (error instanceof TypeError && kind.single !== undefined) return false;
    unreadable(error, identities.declared.concat(others), found, list.operation);
    return true;
  }
}

function unknownVersions({ kind, isKnown }: LiveQuery, rows: readonly ListedRow[]): readonly Identity[] {
  return rows.flatMap(({ key, version }) => {
    const name = `${kind.type}/${key}`;
    const identity = `${name}@${version}`;
    return isKnown(name) || isKnown(identity) ? [] : [identity];
  });
}

async function confirmMissing(lacking: MissingFromList, context: LiveReading, found: ObservationDraft): Promise<void> {
  try {
    for (const [identity, live] of await confirmAbsent(lacking, context)) found.live.set(identity, live);
  } catch (error) {
    unreadable(error, lacking.identities, found, lacking.list.operation);
  }
}

const UNREADABLE = { state: "unknown", reason: "no-read" } as const;

/** A declared resource without a usable id, so that its id must come from a dry run. */
type Unresolved = Wanted & { readonly manifest: Manifest | UnparsedManifest; readonly reading: SingleReading };

// Reads resources with a known or likely id; returns those that need a dry run.
async function byIds(
  wanted: readonly Wanted[],
  context: LiveReading,
  found: ObservationDraft,
): Promise<readonly Unresolved[]> {
  const unresolved: Unresolved[] = [];
  await readEach(wanted, context, found, async (one) => {
    const { kind, identity, manifest, id } = one;
    const reading = kind.single;
    if (reading === undefined) {
      if (context.known?.isAsRecorded(identity)) found.inSync.set(identity, "ledger");
      return UNREADABLE;
    }
    const { key } = splitIdentity(identity);
    const { reply } = operations[reading.operation];
    const guesses = [...new Set([id, reading.guessId?.(key) ?? null])].filter((guess) => guess !== null);
    for (const guess of guesses) {
      const row = await readById(reading, guess, context, context.known?.replyReader(identity, reply));
      if (row === "in-sync") return row;
      if (row?.key === key) return { state: "present", row };
    }
    if (manifest === null) return id === null ? UNREADABLE : { state: "absent" };
    unresolved.push({ ...one, manifest, reading });
    return null;
  });
  return unresolved;
}

async function withManifests(unresolved: readonly Unresolved[], signal: AbortSignal): Promise<readonly Resolvable[]> {
  const read: Resolvable[] = [];
  for (const one of unresolved) read.push({ ...one, manifest: await readManifest(one.manifest, { signal }) });
  return read;
}

type Resolvable = Unresolved & { readonly manifest: Manifest };

// In the order of references, so that a refused dry run is distinguishable from a missing reference.
async function byDryRuns(
  unresolved: readonly Resolvable[],
  context: LiveReading,
  found: ObservationDraft,
): Promise<void> {
  const waves = [...Map.groupBy(unresolved, ({ wave }) => wave)].toSorted(([a], [b]) => a - b);
  for (const [, group] of waves) await readEach(group, context, found, (one) => byDryRun(one, context, found));
}

async function readEach<One extends Wanted>(
  wanted: readonly One[],
  context: LiveReading,
  found: ObservationDraft,
  read: (one: One) => Promise<Live | "in-sync" | null>,
): Promise<void> {
  await forEachConcurrently(wanted, context.concurrency, async (one) => {
    context.signal.throwIfAborted();
    try {
      const live = await read(one);
      if (live === "in-sync") found.inSync.set(one.identity, "live");
      else if (live !== null) found.live.set(one.identity, live);
    } catch (error) {
      unreadable(error, [one.identity], found, one.kind.single?.operation ?? one.kind.type);
    }
  });
}

async function byDryRun(
  { kind, identity, manifest, reading }: Resolvable,
  context: LiveReading,
  found: ObservationDraft,
): Promise<Live> {
  const tried = await context.dryRun(kind, manifest, { signal: context.signal });
  switch (tried.state) {
    case "impossible":
      return { state: "unknown", reason: "no-read" };
    case "forbidden":
      found.dryRuns.set(identity, tried);
      return { state: "unknown", reason: "not-visible" };
    case "refused":
      // The refusal may be about a reference that this plan is about to create.
      if (manifest.references.some(({ identity: named }) => mayBeCreated(named, found))) {
        return { state: "unknown", reason: "no-read" };
      }
      found.dryRuns.set(identity, tried);
      return { state: "unknown", reason: refusalReason(kind, tried), detail: tried.message };
    case "answered": {
      const id = isObject(tried.reply) ? reading.idFrom(tried.reply as never) : null;
      found.dryRuns.set(identity, { state: "answered", row: tried.row });
      if (id === null) return { state: "absent" };
      const row = await readById(reading, id, context);
      return row === null || row === "in-sync" ? { state: "absent" } : { state: "present", row: { ...row, id } };
    }
  }
}

// A group of secrets that is not declared was not asked for, and is not created.
function mayBeCreated(identity: Identity, found: ObservationDraft): boolean {
  const isAsked = kindOf(splitIdentity(identity).kind)?.values === undefined || found.live.has(identity);
  return isAsked && !exists(found, identity);
}

// Our control plane uses this code; any other refusal counts as a refused manifest.
function refusalReason({ sharesNames }: Kind, { code }: { readonly code?: string | null }): "type-changed" | "refused" {
  return sharesNames !== undefined && code === "name-taken" ? "type-changed" : "refused";
}

function isRouteMissing(error: unknown): boolean {
  return error instanceof ClientError && error.reason === "route-missing";
}

/** Whether a failed call is about one resource, not about the whole server. */
export function isResourceError(error: unknown): error is ClientError {
  return error instanceof ClientError && !["unauthorized", "unreachable"].includes(error.reason);
}

// Rethrows failures that end the pass; others make these resources unknown and the plan incomplete.
function unreadable(error: unknown, identities: readonly Identity[], found: ObservationDraft, what: string): void {
  if (!isResourceError(error) && !(error instanceof TypeError)) throw error;
  for (const identity of identities)
    found.live.set(identity, { state: "unknown", reason: "unreadable", detail: error.message });
  found.diagnostics.push(
    unreadableDiagnostic(what, error, "the plan is not complete; nothing is decided about these resources"),
  );
}

/** The diagnostic about live state that could not be read; the pass is incomplete. */
export function unreadableDiagnostic(what: string, error: Error, detail: string): Diagnostic {
  const summary = `live could not be read (${what}): ${error.message}`;
  const code = isOutOfReach(error) ? UNREACHED : "unreadable";
  return { severity: "error", code, summary, detail, file: null, line: null, column: null };
}

/** Reads whose token it is and what it may do; null where the control plane does not tell. */
export async function readCaller({
  reader,
  capabilities,
  signal,
}: Pick<LiveReading, "reader" | "capabilities" | "signal">): Promise<Access | null> {
  if (!capabilities.has("getCaller")) return null;
  try {
    return noteCaller(await reader.get("getCaller", {}, { signal }), capabilities);
  } catch (error) {
    // Without the roles the plan concludes less, so it needs no further note.
    if (isResourceError(error)) return null;
    throw error;
  }
}

/** The access of a caller as the control plane has told it, which the capabilities learn too. */
export function noteCaller(caller: Caller | JsonObject, capabilities: ServerCapabilities): Access | null {
  capabilities.subject = text(caller.subjectId) ?? capabilities.subject;
  return readAccess(caller);
}
