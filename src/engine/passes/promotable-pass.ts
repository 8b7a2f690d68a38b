import type { NotPromoted } from "../../contract/generated/output.ts";
import { equal, type JsonObject } from "../../contract/json.ts";
import { rolloutState } from "../../contract/rollout-state.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import { pointerIn } from "../../core/diff/pointer.ts";
import { type Kind, requireKind } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, requireRead } from "../../core/manifest.ts";
import type { PromotionCandidate } from "../../core/promotion/promotion.ts";
import { type PromotedField, versionFields } from "../../core/promotion/version-fields.ts";
import type { Recorded } from "../../core/recorded.ts";
import type { PromotableEvent } from "../../core/report/events.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { kindsByType } from "../../kinds/index.ts";
import { locateFields } from "../../manifests/read-manifests.ts";
import type { FieldPlace, SourceManifest } from "../../manifests/source-manifest.ts";
import { valueAt } from "../../model/normal-form.ts";
import type { Ledger } from "../../state/ledger.ts";
import type { Desired } from "../load/desired.ts";
import { EVERYTHING, observe } from "../observe.ts";
import type { Pass } from "../pass.ts";
import { readAccessOf } from "../session.ts";

/** A pass that finds what of the selected resources is live and healthy, so that it can be promoted, and writes nothing. */
export type PromotableMode = {
  readonly is: "promotable";
  /** The fields that are copied; null for those that say which version of something is used. */
  readonly fields: readonly PromotedField[] | null;
};

/** Up to so many resources are read one by one. */
const FEW = 32;

/** Finds what can be promoted from a target, and why the rest cannot. */
export async function promotablePass(
  { connection, read, run }: Pass,
  { fields }: PromotableMode,
): Promise<PromotableEvent> {
  const { session } = connection;
  const { desired } = read;
  const manifests = desired.manifests.filter(({ identity }) => desired.onlyReferredTo?.has(identity) !== true);
  const recorded = await session.ledger.recorded(new Set(manifests.map(({ identity }) => identity)));
  const given = {
    server: readAccessOf(session),
    records: { heads: await session.heads(), ledger: session.ledger },
    rules: read.rules,
    run,
  };
  const scope = { ...EVERYTHING, seeksOrphans: false, readsEach: manifests.length <= FEW };
  const observed = await observe({ ...desired, manifests, isWhole: false }, { ...given, scope });
  const { live } = observed.observation;
  const judged = (manifest: SourceManifest, records: typeof recorded): Healthy | NotPromoted => {
    const { identity } = manifest;
    return judge(manifest, { live: live.get(identity), recorded: records.get(identity) }, (row) =>
      versionFields(requireKind(kindsByType, manifest.kind), { identity, live: row }, fields),
    );
  };
  const first = observed.desired.manifests.map((manifest) => ({ manifest, one: judged(manifest, recorded) }));
  const drifted = first.map(({ one }) => one).filter(hasDrifted);
  const writing = await writtenMeanwhile(new Set(drifted.map(({ identity }) => identity)), session.ledger);
  const found = first.map(({ manifest, one }) => {
    if (!hasDrifted(one)) return one;
    return writing.open.has(one.identity)
      ? { ...one, why: "rolling-out" as const, detail: "a write of it has not ended" }
      : judged(manifest, writing.records);
  });
  const good = found.filter((one) => "healthy" in one);
  const places = await placesOf(good, run.stopping);
  return {
    what: "promotable",
    server: session.server,
    revision: desired.revision,
    candidates: good.map(({ manifest: { identity, kind, file, line }, healthy, paths }) => ({
      ...{ identity, as: identity, kind, file, line, ...healthy },
      fields: paths.map((path) => ({ path, place: places.get(manifestField(identity, path)) ?? null })),
    })),
    refused: [...invalidOnes(desired), ...found.filter((one): one is NotPromoted => "why" in one)],
  };
}

function hasDrifted(one: Healthy | NotPromoted): one is NotPromoted {
  return "why" in one && one.why === "drifted";
}

/**
 * What is recorded of those that have drifted, and whose writes are open: another process may have written while live was read. In this
 * order, since a write is closed together with its record.
 */
async function writtenMeanwhile(
  drifted: ReadonlySet<Identity>,
  ledger: Pick<Ledger, "pending" | "recorded">,
): Promise<{ readonly open: ReadonlySet<Identity>; readonly records: ReadonlyMap<Identity, Recorded> }> {
  if (drifted.size === 0) return { open: new Set(), records: new Map() };
  const open = new Set((await ledger.pending()).map(({ identity }) => identity));
  return { open, records: await ledger.recorded(drifted) };
}

function invalidOnes({ refused }: Desired): readonly NotPromoted[] {
  const named = refused.filter(({ identity }) => identity !== "");
  return named.map(({ identity, kind, message }) => ({ identity, kind, why: "invalid", detail: message }));
}

type Healthy = {
  readonly manifest: SourceManifest;
  readonly paths: readonly (readonly string[])[];
  readonly healthy: Pick<PromotionCandidate, "live" | "since">;
};

function judge(
  manifest: SourceManifest,
  { live, recorded }: { readonly live: Live | undefined; readonly recorded: Recorded | undefined },
  fieldsOf: (live: JsonObject) => readonly (readonly string[])[],
): Healthy | NotPromoted {
  const { identity, kind: type } = manifest;
  const refuse = (why: NotPromoted["why"], detail: string): NotPromoted => ({ identity, kind: type, why, detail });
  if (recorded === undefined) return refuse("not-recorded", "it was not applied from this target's source");
  if (live === undefined || live.state === "absent") return refuse("absent", "it is not live");
  const kind = requireKind(kindsByType, type);
  if (live.state === "unknown") {
    if (live.reason !== "no-read") return refuse("unreadable", live.detail ?? "live cannot be read here");
    // The control plane has no operation that reads it: the record of the write is what is known of it.
    const { returned, written, at } = recorded;
    const content = returned ?? written;
    return { manifest, paths: fieldsOf(content), healthy: { live: content, since: timestampText(at) } };
  }
  const { row } = live;
  const rollout = kind.rollsOut ? rolloutState(row.status) : "succeeded";
  if (rollout === "failed") return refuse("unhealthy", `its rollout has failed (${row.status?.status})`);
  if (rollout === "progressing") return refuse("rolling-out", "its rollout has not ended");
  const paths = fieldsOf(row.manifest);
  if (!isAsWritten(kind, paths, [row.manifest, recorded.returned ?? recorded.written]))
    return refuse("drifted", "somebody has changed what would be promoted in live");
  const since = (kind.rollsOut ? row.status?.createdAt : row.stamp) ?? row.createdAt ?? null;
  return { manifest, paths, healthy: { live: row.manifest, since: isTime(since) ? since : (row.createdAt ?? null) } };
}

function isAsWritten(
  kind: Kind,
  paths: readonly (readonly string[])[],
  [live, written]: readonly [JsonObject, JsonObject],
): boolean {
  const [is, was] = [contentOf(kind, live), contentOf(kind, written)];
  return paths.every((path) => equal(valueAt(kind.shape, is, path), valueAt(kind.shape, was, path)));
}

function isTime(text: string | null): boolean {
  return text !== null && /^\d{4}-\d\d-\d\dT/.test(text);
}

// A place is that of the value only where the manifest says what is live.
async function placesOf(found: readonly Healthy[], signal: AbortSignal): Promise<ReadonlyMap<string, FieldPlace>> {
  const wanted = found.flatMap(({ manifest, paths, healthy: { live } }) => {
    const { shape, ...kind } = requireKind(kindsByType, manifest.kind);
    const { value } = requireRead(manifest);
    const sides = [contentOf({ shape, ...kind }, value), contentOf({ shape, ...kind }, live)] as const;
    return paths
      .filter((path) => equal(valueAt(shape, sides[0], path), valueAt(shape, sides[1], path)))
      .map((path) => ({ manifest, path, pointer: pointerIn(shape, [value], path) }));
  });
  const located = await locateFields(wanted, { signal });
  return new Map(
    located.map(({ manifest, path, position }) => [manifestField(manifest.identity, path), position] as const),
  );
}

function manifestField(identity: Identity, path: readonly string[]): string {
  return [identity, ...path].join("\0");
}
