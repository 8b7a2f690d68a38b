import { equal, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { differences } from "../../model/differences.ts";
import type { Decision, Difference } from "../decide/decision.ts";
import { changeOf } from "../diff/change.ts";
import { contentOf, withoutVersion } from "../diff/compared-content.ts";
import { isActedOn } from "../diff/field-cause.ts";
import { jsonPatchTo } from "../diff/json-patch.ts";
import { requireKind, writerIn } from "../kind.ts";
import { type Identity, type ManifestHead, requireRead, splitIdentity } from "../manifest.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import { type FoundOrphan, findOrphans } from "./orphans.ts";
import type { Change, Step } from "./plan.ts";
import type { OrphanInput, PlanInput, WavedManifest } from "./plan-input.ts";

const NONE: readonly never[] = [];
const KEEP = { action: "keep", reason: null, risks: NONE, causedBy: null, differences: NONE } as const;

function keptBy({ inSync }: PlanInput, identity: Identity): "by-ledger" | null {
  return inSync.get(identity) === "ledger" ? "by-ledger" : null;
}

/** The step of one manifest; without a decision it is in sync. */
export function stepOf(input: PlanInput, { manifest, wave }: WavedManifest, decision: Decision | undefined): Step {
  const { kind, identity, file, line } = manifest;
  const {
    action,
    reason,
    risks,
    causedBy,
    differences: found,
  } = decision ?? { ...KEEP, reason: keptBy(input, identity) };
  if (action === "create") {
    const changes = [contentChange(input, manifest)];
    return { action, kind, identity, file, line, wave, changes, patch: NONE, reason, risks, causedBy };
  }
  const acted = found.filter(({ cause }) => isActedOn(cause));
  if (acted.length === 0) {
    const changes = action === "block" ? changesFromBase(input, manifest) : NONE;
    return { action, kind, identity, file, line, wave, changes, patch: NONE, reason, risks, causedBy };
  }
  const { shape } = requireKind(input.kinds, kind);
  const live = liveOf(input, manifest) ?? decision?.before;
  const changes = acted.map((one) => changeOf(one, one.cause, { shape, manifest: requireRead(manifest).value, live }));
  const patch = jsonPatchTo(shape, live, decision?.after);
  const writer = writerOf(input, manifest, acted);
  return { action, kind, identity, file, line, wave, changes, patch, reason, risks, causedBy, ...writer };
}

// The writer of the newest version is known, but not who changed which of its fields.
function writerOf(
  { live }: PlanInput,
  { identity }: ManifestHead,
  acted: readonly Difference[],
): Pick<Step, "changedBy"> | null {
  const found = live.get(identity);
  const mayHaveMoved = acted.some(({ cause }) => cause === "drift" || cause === "conflict" || cause === "unrecorded");
  return mayHaveMoved && found?.state === "present" ? writerIn(found.row) : null;
}

// A blocked step still shows what the change under review does, whatever is live.
function changesFromBase(input: PlanInput, manifest: ManifestHead): readonly Change[] {
  const { base, kinds } = input;
  const kind = kinds.get(manifest.kind);
  if (base === null || kind === undefined) return NONE;
  const { value } = requireRead(manifest);
  const origin = base.get(manifest.identity);
  if (origin === undefined) return [contentChange(input, manifest)];
  const found = differences(kind.shape, contentOf(kind, origin), contentOf(kind, value));
  return found.map((one) => changeOf(one, "manifest", { shape: kind.shape, manifest: value, live: origin }));
}

// The content of a create: the whole manifest, masked like every change.
function contentChange({ kinds, recorded, applied, base }: PlanInput, manifest: ManifestHead): Change {
  const { kind, identity, value } = requireRead(manifest);
  const isPending = base !== null && equal(base.get(identity), value);
  const isGone = recorded.has(identity) || (isPending && applied?.has(identity));
  return createdFrom(requireKind(kinds, kind).shape, value, isGone ? "drift" : isPending ? "pending" : "manifest");
}

// Masked on first access: an apply whose plan is not shown would mask 10,000 manifests for nothing.
function createdFrom(shape: Shape, value: JsonObject, cause: Change["cause"]): Change {
  return {
    path: "",
    label: "",
    before: null,
    get after() {
      return redactManifest(shape, value);
    },
    cause,
    diff: null,
  };
}

// The version number is part of the identity, so it is neither compared nor patched.
function liveOf({ live, kinds }: PlanInput, { identity, kind: type }: ManifestHead): JsonObject | undefined {
  const [found, kind] = [live.get(identity), kinds.get(type)];
  return found?.state === "present" && kind !== undefined ? withoutVersion(kind, found.row.manifest) : undefined;
}

/** The steps of orphans, which do nothing. */
export function orphanSteps(input: OrphanInput): readonly Step[] {
  return findOrphans(input).map(({ identity, ...orphan }) => ({
    action: "orphan",
    kind: splitIdentity(identity).kind,
    identity,
    file: null,
    line: null,
    wave: 0,
    changes: NONE,
    patch: NONE,
    reason: null,
    risks: NONE,
    causedBy: orphanCause(input, { identity, ...orphan }),
    orphan,
  }));
}

// What an earlier commit removed is nobody's change now.
function orphanCause({ base, applied }: OrphanInput, { identity, recorded, removedBy }: FoundOrphan): Step["causedBy"] {
  if (base === null) return recorded || removedBy?.commit === null ? "change" : null;
  if (base.has(identity)) return "change";
  return recorded || applied?.has(identity) ? "pending" : null;
}
