import type { Json, JsonObject } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import type { Decision } from "../../core/decide/decision.ts";
import { changeOf } from "../../core/diff/change.ts";
import { contentOf } from "../../core/diff/compared-content.ts";
import { pointerIn, writtenValueAt } from "../../core/diff/pointer.ts";
import { type Kind, type LiveRow, writerIn } from "../../core/kind.ts";
import type { ManifestHead } from "../../core/manifest.ts";
import type { Change } from "../../core/plan/plan.ts";
import type { Recorded } from "../../core/recorded.ts";
import { redactManifest } from "../../core/redact/redact-manifest.ts";
import type { WhyEvent } from "../../core/report/events.ts";
import { kindOf } from "../../kinds/index.ts";
import { differences, labelOf } from "../../model/differences.ts";
import { versionsSince } from "../observe/versions-since.ts";
import type { Pass } from "../pass.ts";
import { locateChanges } from "../plan/locate-changes.ts";
import type { LivePlan } from "../plan.ts";

/** Versions that are read to find who wrote a field. */
const MAX_VERSIONS = 100;

/** A whole resource, and what was recorded of it. */
type Asked = {
  readonly manifest: ManifestHead;
  readonly value: JsonObject;
  readonly receipt: Recorded | undefined;
};

/** The fields of a whole resource that differ, or that somebody else has written since, each with who wrote what is live. */
export async function whyFields(
  livePlan: LivePlan,
  { manifest, value, receipt }: Asked,
  { connection, run }: Pass,
): Promise<Required<Pick<WhyEvent, "changes" | "changedSince">>> {
  const { identity, kind: type } = manifest;
  const { observation } = livePlan;
  const plan = await locateChanges(livePlan, { patchedOnly: false, signal: run.stopping });
  const step = plan.steps.find((one) => one.identity === identity);
  const [live, kind] = [observation.live.get(identity), kindOf(type)];
  const recorded = recordedFields(livePlan.decisions.get(identity), kind, receipt);
  const changes = (step?.changes ?? []).flatMap((change) =>
    change.path === "" ? [] : { ...change, ...recorded.get(change.label) },
  );
  if (live?.state !== "present" || kind === undefined) return { changes, changedSince: [] };
  const { row } = live;
  const sides = { kind, row, value };
  const moved = receipt === undefined ? [] : changesFrom(receipt.returned ?? receipt.written, sides);
  const differing = new Set(changes.map(({ label }) => label));
  const since = moved.filter(({ label }) => !differing.has(label));
  if (changes.length + since.length === 0) return { changes, changedSince: [] };
  const versions = await versionsFrom(sides, receipt, { reader: connection.session.reader, signal: run.stopping });
  const differs = versions.map((version) => ({
    version,
    labels: changesFrom(version.manifest, sides).map(({ label }) => label),
  }));
  const withWriter = (change: Change): Change => {
    const newer = differs.findIndex(({ labels }) => labels.some((label) => isWithin(label, change.label)));
    const { version = row } = (newer === -1 ? differs.at(-1) : differs[newer - 1]) ?? {};
    return LIVE_CAUSES.has(change.cause) ? { ...change, ...writerIn(version) } : change;
  };
  return { changes: changes.map(withWriter), changedSince: since.map(withWriter) };
}

type RecordedField = { readonly recorded: Json };

/** What was written last of the fields that differ, by their labels; secrets are masked. */
function recordedFields(
  decision: Decision | undefined,
  kind: Kind | undefined,
  receipt: Recorded | undefined,
): ReadonlyMap<string, RecordedField> {
  if (decision === undefined || kind === undefined || receipt === undefined) return new Map();
  const { shape } = kind;
  const { written } = receipt;
  const masked = redactManifest(shape, written);
  return new Map(
    decision.differences.map(({ tokens }) => {
      const path = pointerTokens(pointerIn(shape, [written], tokens));
      return [labelOf(shape, tokens), { recorded: writtenValueAt(masked, path) ?? null }];
    }),
  );
}

/** The causes with which live has moved, or may have. */
const LIVE_CAUSES: ReadonlySet<Change["cause"]> = new Set(["drift", "conflict", "unrecorded"]);

type Sides = { readonly kind: Kind; readonly row: LiveRow; readonly value: JsonObject };

/** The fields in which live differs from an earlier content. */
function changesFrom(earlier: JsonObject, { kind, row, value }: Sides): readonly Change[] {
  const found = differences(kind.shape, contentOf(kind, earlier), contentOf(kind, row.manifest));
  return found.map((one) => changeOf(one, "drift", { shape: kind.shape, manifest: value, live: row.manifest }));
}

// Newest first, from live on; only live where the kind has no versions.
async function versionsFrom(
  { kind, row }: Sides,
  receipt: Recorded | undefined,
  context: Parameters<typeof versionsSince>[2],
): Promise<readonly LiveRow[]> {
  if (row.version === undefined) return [row];
  const since = { ...row, version: receipt?.version ?? 0, limit: MAX_VERSIONS };
  const found = (await versionsSince(kind, since, context)) ?? [];
  return found.length === 0 ? [row] : found;
}

function isWithin(label: string, other: string): boolean {
  return label === other || isBelow(label, other) || isBelow(other, label);
}

function isBelow(label: string, other: string): boolean {
  return label.startsWith(`${other}.`) || label.startsWith(`${other}[`);
}
