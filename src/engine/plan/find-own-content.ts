import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { Reader } from "../../client/reader.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { DryRunReply, OwnCheck } from "../../core/decide/decision.ts";
import { isContentOf, isWrittenBy, type OwnContent } from "../../core/decide/own-content.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { RuleFinder } from "../../core/ignore/ignore-rules.ts";
import type { LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, type Manifest, requireRead } from "../../core/manifest.ts";
import type { WavedManifest } from "../../core/plan/plan-input.ts";
import { kindOf } from "../../kinds/index.ts";
import type { Desired } from "../load/desired.ts";
import { versionsSince } from "../observe/versions-since.ts";

/** Versions that are read to find one that was ours. */
const MAX_VERSIONS = 100;

/** Resources without a record that differ from their manifests, and what is known of them. */
export type OwnQuestion = {
  readonly differing: readonly WavedManifest[];
  readonly live: ReadonlyMap<Identity, Live>;
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  readonly rulesFor: RuleFinder;
  /** Subjects whose writes count as ours. */
  readonly writers: ReadonlySet<string>;
};

/** The resources that are this repository's own, and warnings about what was read for that. */
export type FoundOwnContent = {
  readonly own: ReadonlyMap<Identity, OwnContent>;
  readonly warnings: readonly Diagnostic[];
};

/** Nothing was asked. */
export const NOTHING_OWN: FoundOwnContent = { own: new Map(), warnings: [] };

type OwnReading = {
  readonly reader: Reader;
  readonly concurrency: number;
  readonly signal: AbortSignal;
};

/** A differing resource, and the manifests that this repository has declared of it, newest first. */
type Asked = OwnCheck & {
  readonly manifest: Manifest;
  readonly row: LiveRow;
  /** The manifest of the applied commit. */
  readonly applied: JsonObject | null;
  readonly declared: readonly JsonObject[];
};

/**
 * Finds out which of these resources are this repository's own: live is what it once declared, or an earlier version was,
 * or somebody wrote it who writes for us.
 */
export async function findOwnContent(
  question: OwnQuestion,
  desired: Desired,
  context: OwnReading,
): Promise<FoundOwnContent> {
  const asked = question.differing.flatMap(({ manifest }) => askedOf(requireRead(manifest), question) ?? []);
  if (asked.length === 0 && desired.history?.namesApplied !== true) return NOTHING_OWN;
  const atRef = await desired.history?.applied();
  const applied = desired.applied ?? atRef?.manifests ?? null;
  const own = asked.length === 0 ? NOTHING_OWN.own : await findOwn(asked, question, { ...desired, applied }, context);
  return { own, warnings: atRef?.warnings ?? [] };
}

async function findOwn(
  present: readonly Asked[],
  { writers }: OwnQuestion,
  { base, history, applied }: Desired,
  context: OwnReading,
): Promise<ReadonlyMap<Identity, OwnContent>> {
  const own = new Map<Identity, OwnContent>();
  const withKnown = present.map((one): Asked => {
    const { identity } = one.manifest;
    const known = [applied?.get(identity), base?.get(identity)].filter((manifest) => manifest !== undefined);
    return { ...one, applied: applied?.get(identity) ?? null, declared: known };
  });
  const unmatched = withKnown.filter((one) => !noteMatch(one, own));
  if (unmatched.length === 0) return own;
  const line = await earlierManifests(unmatched, history, context);
  const left = unmatched.map((one) => withEarlier(one, { line, base })).filter((one) => !noteMatch(one, own));
  const hasHistory = line !== null || base !== null;
  await forEachConcurrently(left, context.concurrency, async (one) => {
    const found = await ownByVersions(one, { ...context, writers, hasHistory });
    if (found !== null) own.set(one.manifest.identity, found);
  });
  return own;
}

function askedOf(manifest: Manifest, { live, dryRuns, rulesFor }: OwnQuestion): Asked | null {
  const { identity } = manifest;
  const [found, kind] = [live.get(identity), kindOf(manifest.kind)];
  if (found?.state !== "present" || kind === undefined) return null;
  return {
    kind,
    manifest,
    dryRun: dryRuns.get(identity) ?? null,
    ignored: rulesFor(identity),
    row: found.row,
    applied: null,
    declared: [],
  };
}

type Earlier = ReadonlyMap<Identity, readonly JsonObject[]>;

function noteMatch(one: Asked, own: Map<Identity, OwnContent>): boolean {
  const match = one.declared.find((manifest) => isContentOf(one, manifest, one.row.manifest));
  if (match === undefined) return false;
  own.set(one.manifest.identity, { manifest: one.applied ?? match });
  return true;
}

// What is declared now does not equal live, but an earlier version may equal it.
function withEarlier(one: Asked, { line, base }: Pick<Desired, "base"> & { readonly line: Earlier | null }): Asked {
  if (line === null) return one;
  const { identity, value } = one.manifest;
  const now = base === null ? [value] : [];
  return { ...one, declared: [...one.declared, ...now, ...(line.get(identity) ?? [])] };
}

async function earlierManifests(
  asked: readonly Asked[],
  history: Desired["history"],
  { signal }: OwnReading,
): Promise<Earlier | null> {
  const declared = await history?.declared();
  return declared?.manifestsOf(new Set(asked.map(({ manifest }) => manifest.identity)), { signal }) ?? null;
}

type VersionReading = OwnReading & Pick<OwnQuestion, "writers"> & { readonly hasHistory: boolean };

async function ownByVersions(one: Asked, context: VersionReading): Promise<OwnContent | null> {
  const { kind, row, applied, declared, manifest } = one;
  const { writers, hasHistory } = context;
  const { version } = row;
  if (version === undefined) {
    // Nobody can tell when it was changed, only that this repository never declared what is live.
    const last = declared[0] ?? manifest.value;
    return isWrittenBy(row, writers) ? { manifest: applied ?? (hasHistory ? last : null) } : null;
  }
  const since = { ...row, version: 0, limit: MAX_VERSIONS };
  const versions = (await versionsSince(kind, since, context)) ?? [];
  const earlier = versions.filter((each) => (each.version ?? 0) < version);
  const match = declared.find((each) => earlier.some(({ manifest }) => isContentOf(one, each, manifest)));
  if (match !== undefined) return { manifest: applied ?? match };
  if (isWrittenBy(row, writers)) return { manifest: applied };
  const ours = earlier.find((each) => isWrittenBy(each, writers));
  return ours === undefined ? null : { manifest: applied ?? ours.manifest };
}
