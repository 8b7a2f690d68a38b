import type { Risk } from "../contract/generated/output.ts";
import { equal, type Json, type JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { valueAt } from "../model/normal-form.ts";
import { inPlaceFields } from "../model/version-fields.ts";
import { type Cause, causeOf, type FieldViews, isActedOn, isOfThisChange } from "./cause.ts";
import { type CausedBy, causedByDifferences, causedByManifest } from "./caused-by.ts";
import { contentOf, withoutVersion } from "./content.ts";
import { differences, type FieldDifference } from "./diff.ts";
import { expectedLive, withDefaults } from "./expected-live.ts";
import { fastEqual } from "./fast-equal.ts";
import { isIgnored } from "./ignore.ts";
import { keepIgnored } from "./keep-ignored.ts";
import type { Kind, LiveRow } from "./kind.ts";
import type { Live, UnknownReason } from "./live.ts";
import type { Identity, Manifest } from "./manifest.ts";
import { parentOf } from "./parent.ts";
import type { Action, Reason } from "./plan.ts";
import type { Recorded } from "./recorded.ts";
import { redactMessage } from "./redact-message.ts";
import { chooseWriting, type ServerFacts } from "./server.ts";

/** The reply of a dry run (a write with `dryRun`). */
export type DryRunReply =
  | { readonly state: "answered"; readonly row: LiveRow | null }
  /** `pointer`: where in the manifest, where the server tells. */
  | {
      readonly state: "refused";
      readonly message: string;
      readonly pointer?: string | null;
      readonly code?: string | null;
    }
  | { readonly state: "forbidden" };

/** A reference that keeps a step from being carried out. */
export type BlockingReference = {
  readonly reason: Extract<Reason, "dependency" | "reference-absent">;
  readonly identity: Identity;
};

/** Everything a decision on one manifest rests on. */
export type DecisionInput = {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly manifest: Manifest;
  readonly live: Live;
  readonly recorded: Recorded | null;
  readonly dryRun: DryRunReply | null;
  /** The manifest at the base commit, undefined where the base has none; null when no base is given. */
  readonly base: { readonly manifest: JsonObject | undefined } | null;
  /** The same at the commit that was applied last, which tells causes where nothing is recorded; null where none does. */
  readonly applied: { readonly manifest: JsonObject | undefined } | null;
  readonly facts: ServerFacts;
  readonly ignored: readonly (readonly string[])[];
  readonly obstacle: BlockingReference | null;
  /** Whether it may be there although no list shows it, since nothing that it lies in is visible. */
  readonly isHidden: boolean;
  /** Whether a one-time token would be kept. */
  readonly hasSink: boolean;
  /** Whether the ledger's word is too old, or not to be trusted, where live cannot be read. */
  readonly isStale: boolean;
};

/** A field that differs, and why. */
export type Difference = FieldDifference & {
  readonly cause: Cause;
  /** Whether the change under review made it. */
  readonly isOfThisChange: boolean;
};

/** What to do with one manifest. */
export type Decision = {
  readonly action: Exclude<Action, "orphan">;
  readonly reason: Reason | null;
  /** Which reference is in the way, or what the control plane said where it refused, without the manifest's secrets. */
  readonly detail: string | null;
  /** JSON Pointer of the field that the detail is about; null where it is about the whole manifest. */
  readonly pointer: string | null;
  /** What differs, the server's own additions and rewrites included. */
  readonly differences: readonly Difference[];
  /** The paths that differ and are left as live has them. */
  readonly ignored: readonly (readonly string[])[];
  readonly drifted: boolean;
  /** What makes it dangerous. */
  readonly risks: readonly Risk[];
  /** Who caused what is done; null where nothing is, or nobody moved. */
  readonly causedBy: CausedBy | null;
  /** Live, and what the acted-on differences make of it, in normal form: the two ends of the patch. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

const NOWHERE: readonly never[] = [];
const RECORDED_GONE = { drifted: true };
const NOTHING = {
  reason: null,
  detail: null,
  pointer: null,
  differences: [],
  ignored: [],
  drifted: false,
  risks: [],
  causedBy: null,
  before: undefined,
  after: undefined,
};

/** Decides what to do with one manifest. */
export function decide(one: DecisionInput): Decision {
  const decision = decideByLive(one);
  return decision.action === "keep" ? decision : { ...decision, causedBy: causedBy(one, decision) };
}

function causedBy(one: DecisionInput, { differences }: Decision): CausedBy | null {
  const acted = differences.filter(({ cause }) => isActedOn(cause));
  if (acted.length > 0) return causedByDifferences(acted);
  const { base, recorded, applied, manifest, live } = one;
  const isSame = (other: JsonObject | undefined): boolean =>
    other !== undefined && equal(content(one, manifest.value), content(one, other));
  return causedByManifest({
    atBase: base === null ? "not-compared" : isSame(base.manifest) ? "same" : "otherwise",
    isAsWritten: recorded && isSame(recorded.written),
    applied: applied && (applied.manifest === undefined ? "absent" : isSame(applied.manifest) ? "same" : "otherwise"),
    isAbsent: live.state === "absent",
  });
}

function decideByLive(one: DecisionInput): Decision {
  const { live } = one;
  switch (live.state) {
    case "absent":
      return { ...decideAbsent(one, live.newest ?? 0), ...(wasApplied(one) ? RECORDED_GONE : {}) };
    case "present":
      return decidePresent(one, live.row);
    case "unknown":
      if (isRefusal(live.reason)) return refuse(one, live.reason, live.detail);
      return decideUnknown(one, live.reason);
  }
}

function wasApplied({ recorded, applied }: DecisionInput): boolean {
  return recorded !== null || applied?.manifest !== undefined;
}

function isRefusal(
  reason: UnknownReason,
): reason is Extract<UnknownReason, Reason> & ("refused" | "unreadable" | "type-changed") {
  return reason === "refused" || reason === "unreadable" || reason === "type-changed";
}

function decideAbsent(one: DecisionInput, newest: number): Decision {
  const { manifest, kind, dryRun } = one;
  // What has no parent but the tenant is told by its dry run alone.
  if (one.isHidden || (dryRun?.state === "forbidden" && parentOf(manifest) === null)) return hidden(one);
  if (dryRun?.state === "refused") return refuse(one, "refused", dryRun.message);
  const { version } = manifest.value;
  const leaps = kind.hasVersions && typeof version === "number" && version > newest + 1;
  const follows = manifest.references.some(
    ({ identity }) => identity === `${manifest.kind}/${kind.key(manifest.value)}@${Number(version) - 1}`,
  );
  return leaps && !follows ? block("version-gap") : act(one, "create", {});
}

function decideUnknown(one: DecisionInput, why: UnknownReason): Decision {
  const { shape, recorded, dryRun } = one;
  const reason = reasonOf(why);
  if (dryRun?.state === "refused" && !isSameAsWritten(one)) return refuse(one, "refused", dryRun.message);
  const mayNot = why === "needs-write" || dryRun?.state === "forbidden";
  if (recorded === null && (mayNot || one.isHidden)) return hidden(one);
  if (recorded === null) return act(one, "ensure", { reason });
  const [desired, written] = [content(one, one.manifest.value), content(one, recorded.written)];
  if (equal(desired, written)) return trust(one, reason);
  const before = recorded.echo === null ? written : content(one, recorded.echo);
  return follow(one, compare(one, before, expectedLive(shape, desired, { written, echo: before })));
}

// What keeps it from being made anyway says more than that nobody knows whether it is there.
function hidden({ obstacle }: DecisionInput): Decision {
  const detail = obstacle?.identity ?? null;
  return block(obstacle?.reason === "dependency" ? "dependency" : "forbidden", { detail });
}

function isSameAsWritten(one: DecisionInput): boolean {
  const { recorded, manifest } = one;
  return recorded !== null && equal(content(one, manifest.value), content(one, recorded.written));
}

function reasonOf(why: UnknownReason): Reason | null {
  return why === "needs-write" ? why : null;
}

// The record equals the manifest: it counts as in sync while the record is fresh.
function trust(one: DecisionInput, reason: Reason | null): Decision {
  return one.isStale ? act(one, "ensure", { reason }) : { ...NOTHING, action: "keep", reason: "by-ledger" };
}

function decidePresent(one: DecisionInput, row: LiveRow): Decision {
  const { shape, dryRun, kind, manifest } = one;
  if (isSurelyKept(one, row)) return { ...NOTHING, action: "keep" };
  const [desired, live] = [content(one, manifest.value), content(one, row.manifest)];
  if (equal(desired, live)) return { ...NOTHING, action: "keep" };
  const echo = dryRun?.state === "answered" && dryRun.row !== null ? content(one, dryRun.row.manifest) : undefined;
  const found = compare(one, live, echo ?? expectedLive(shape, desired, receipt(one)));
  const acted = found.differences.filter(({ cause }) => isActedOn(cause));
  if (acted.length > 0 && dryRun?.state === "refused") return refuse(one, "refused", dryRun.message, found);
  const isFixed = kind.hasVersions && manifest.value.version !== undefined;
  if (isFixed && acted.some(({ tokens: [first = ""] }) => !inPlaceFields.includes(first))) {
    return block("immutable", found);
  }
  return follow(one, found);
}

// Most resources are in sync: comparing them without normalising saves most of the work of a plan.
function isSurelyKept({ kind, shape, manifest, recorded, dryRun }: DecisionInput, row: LiveRow): boolean {
  const [desired, live] = [withoutVersion(kind, manifest.value), withoutVersion(kind, row.manifest)];
  if (equal(desired, live)) return true;
  if (dryRun !== null) return false;
  if (recorded === null || recorded.echo === null) return fastEqual(shape, desired, live);
  return equal(recorded.written, manifest.value) && equal(recorded.echo, row.manifest);
}

/** Whether a manifest and live are equal without normalising; false means that normalising has to decide. */
export function isFastEqual(kind: Kind, shape: Shape, manifest: JsonObject, live: JsonObject): boolean {
  const [desired, found] = [withoutVersion(kind, manifest), withoutVersion(kind, live)];
  return equal(desired, found) || fastEqual(shape, desired, found);
}

function follow(one: DecisionInput, found: Found): Decision {
  const isDifferent = found.differences.some(({ cause }) => isActedOn(cause));
  return isDifferent ? act(one, "update", found) : { ...NOTHING, ...found, action: "keep" };
}

type Found = Pick<Decision, "differences" | "ignored" | "drifted" | "before" | "after">;

function compare(one: DecisionInput, before: Json | undefined, after: Json | undefined): Found {
  const all = differences(one.shape, before, after);
  if (all.length === 0) return { differences: [], ignored: [], drifted: false, before, after };
  const views = viewsOf(one);
  const found = all.map((difference): Difference => {
    if (isIgnored(one.ignored, difference.tokens)) return { ...difference, cause: "ignored", isOfThisChange: false };
    const seen = views(difference);
    const cause = causeOf(seen);
    return { ...difference, cause, isOfThisChange: isOfThisChange(seen, cause) };
  });
  const left = found.filter(({ cause }) => !isActedOn(cause)).map(({ tokens }) => tokens);
  return {
    differences: found.filter(({ cause }) => cause !== "ignored"),
    ignored: found.filter(({ cause }) => cause === "ignored").map(({ tokens }) => tokens),
    drifted: found.some(({ cause }) => cause === "drift" || cause === "conflict"),
    before,
    after: keepIgnored(one.shape, after, before, left),
  };
}

// Defaults are filled in on every side: a field that is left to its default has not moved when it is written out.
function viewsOf(one: DecisionInput): (difference: FieldDifference) => FieldViews {
  const { shape, base, applied, manifest } = one;
  const recorded = receipt(one);
  const given = content(one, manifest.value);
  const desired = withDefaults(shape, given);
  const written = withDefaults(shape, recorded?.written);
  const origin = base === null ? undefined : withDefaults(shape, content(one, base.manifest));
  // What it did not declare was not applied with it.
  const stood = applied?.manifest === undefined ? null : withDefaults(shape, content(one, applied.manifest));
  return ({ tokens, before }) => ({
    desired: valueAt(shape, desired, tokens),
    live: before,
    recorded:
      recorded === null || isIgnored(one.recorded?.unrecorded ?? NOWHERE, tokens)
        ? null
        : { written: valueAt(shape, written, tokens), echo: valueAt(shape, recorded.echo, tokens) },
    applied: stood === null ? null : { desired: valueAt(shape, stood, tokens) },
    base: base && { desired: valueAt(shape, origin, tokens) },
    isGiven: valueAt(shape, given, tokens) !== undefined,
  });
}

function receipt(one: DecisionInput): { written: Json | undefined; echo: Json | undefined } | null {
  const { recorded } = one;
  if (recorded === null || recorded.echo === null) return null;
  return { written: content(one, recorded.written), echo: content(one, recorded.echo) };
}

function content({ kind, shape }: DecisionInput, manifest: JsonObject | undefined): Json | undefined {
  return contentOf(kind, shape, manifest);
}

function act(one: DecisionInput, action: "create" | "update" | "ensure", found: Partial<Decision>): Decision {
  const { kind, live, facts, manifest, hasSink, obstacle } = one;
  if (obstacle !== null) return block(obstacle.reason, { ...found, detail: obstacle.identity });
  if (chooseWriting(kind, live, facts) === null) {
    const cautious = kind.write.some(({ operation, caution }) => caution !== undefined && facts.has(operation));
    return block(cautious ? "model-version-write" : "read-only", found);
  }
  if (kind.needsUpload?.(manifest.value)) return block("needs-upload", found);
  const isNew = action !== "update";
  if (isNew && kind.issuesToken?.(manifest.value) && !hasSink) return block("token-sink", found);
  return { ...NOTHING, ...found, action };
}

// A refusal that a missing reference explains is that reference's fault.
function refuse(one: DecisionInput, reason: Reason, said: string | undefined, found: Partial<Found> = {}): Decision {
  const { obstacle, shape, manifest, dryRun } = one;
  if (obstacle !== null) return block(obstacle.reason, { ...found, detail: obstacle.identity });
  if (said === undefined) return block(reason, found);
  const pointer = dryRun?.state === "refused" ? (dryRun.pointer ?? null) : null;
  const message = redactMessage(said, shape, manifest.value);
  return block(reason, { ...found, pointer, detail: pointer === null ? message : `${pointer}: ${message}` });
}

function block(reason: Reason, found: Partial<Decision> = {}): Decision {
  return { ...NOTHING, ...found, action: "block", reason };
}
