import type { Json, JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { type Cause, causeOf } from "./cause.ts";
import { contentOf } from "./content.ts";
import { differences, type FieldDifference } from "./diff.ts";
import { isIgnored } from "./ignore.ts";
import type { Kind, LiveRow } from "./kind.ts";
import type { Live } from "./live.ts";
import type { Manifest } from "./manifest.ts";
import { equal, pick, settle } from "./normal.ts";
import type { Action, Reason } from "./plan.ts";
import type { Recorded } from "./recorded.ts";
import { chooseWriting, type ServerFacts } from "./server.ts";

/** What a rehearsal (a write with `dryRun`) told of a manifest. */
export type Rehearsal =
  | { readonly state: "answered"; readonly row: LiveRow | null }
  | { readonly state: "refused"; readonly message: string }
  | { readonly state: "forbidden" };

/** A reference that keeps a step from being carried out. */
export type Obstacle = Extract<Reason, "dependency" | "reference-absent">;

/** Everything a decision on one manifest rests on. */
export type Case = {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly manifest: Manifest;
  readonly live: Live;
  readonly recorded: Recorded | null;
  readonly rehearsal: Rehearsal | null;
  /** The manifest at the base commit, undefined where the base has none; null when no base is given. */
  readonly base: { readonly manifest: JsonObject | undefined } | null;
  readonly facts: ServerFacts;
  readonly ignored: readonly (readonly string[])[];
  readonly obstacle: Obstacle | null;
  /** Whether a one-time token would be kept. */
  readonly hasSink: boolean;
  /** Whether the ledger's word is too old, or doubted, where live cannot be read. */
  readonly isStale: boolean;
};

/** A field that differs, and why. */
export type Difference = FieldDifference & { readonly cause: Cause };

/** What to do with one manifest. */
export type Decision = {
  readonly action: Exclude<Action, "orphan">;
  readonly reason: Reason | null;
  /** What the control plane said where it refused; never a value of the manifest. */
  readonly detail: string | null;
  readonly differences: readonly Difference[];
  /** The paths that differ and are left as live has them. */
  readonly ignored: readonly (readonly string[])[];
  readonly drifted: boolean;
  /** Live and desired in normal form, for the patch. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

const RECORDED_GONE = { drifted: true };
const NOTHING = {
  reason: null,
  detail: null,
  differences: [],
  ignored: [],
  drifted: false,
  before: undefined,
  after: undefined,
};

/** Decides what to do with one manifest. */
export function decide(one: Case): Decision {
  const { live, rehearsal } = one;
  if (rehearsal?.state === "refused") return block("refused", { detail: rehearsal.message });
  if (rehearsal?.state === "forbidden") return decideUnknown(one);
  switch (live.state) {
    case "absent":
      return { ...decideAbsent(one), ...(one.recorded === null ? {} : RECORDED_GONE) };
    case "present":
      return decidePresent(one, live.row);
    case "unknown":
      if (live.reason === "refused" || live.reason === "unreadable")
        return block(live.reason, { detail: live.detail ?? null });
      return decideUnknown(one);
  }
}

function decideAbsent(one: Case): Decision {
  const { manifest, kind, live, obstacle } = one;
  if (obstacle !== null) return block(obstacle);
  const newest = live.state === "absent" ? (live.newest ?? 0) : 0;
  const version = manifest.value.version;
  const leaps = kind.versions !== undefined && typeof version === "number" && version > newest + 1;
  const follows = manifest.references.some(
    ({ identity }) => identity === `${manifest.kind}/${kind.key(manifest.value)}@${Number(version) - 1}`,
  );
  if (leaps && !follows) return block("version-gap");
  return act(one, "create", {});
}

function decideUnknown(one: Case): Decision {
  const { shape, recorded, isStale } = one;
  if (recorded === null) return one.obstacle === null ? act(one, "ensure", {}) : block(one.obstacle);
  const [desired, written] = [content(one, one.manifest.value), content(one, recorded.written)];
  if (equal(desired, written))
    return isStale ? act(one, "ensure", {}) : { ...NOTHING, action: "keep", reason: "by-ledger" };
  const before = recorded.echo === null ? written : content(one, recorded.echo);
  const found = compare(one, before, settle(shape, desired, { written, echo: before }));
  return found.differences.length === 0 ? { ...NOTHING, ...found, action: "keep" } : act(one, "update", found);
}

function decidePresent(one: Case, row: LiveRow): Decision {
  const { shape, rehearsal, kind, manifest } = one;
  const [desired, live] = [content(one, manifest.value), content(one, row.manifest)];
  if (equal(desired, live)) return { ...NOTHING, action: "keep" };
  const echo =
    rehearsal?.state === "answered" && rehearsal.row !== null ? content(one, rehearsal.row.manifest) : undefined;
  const found = compare(one, live, echo ?? settle(shape, desired, receipt(one)));
  if (found.differences.length === 0) return { ...NOTHING, ...found, action: "keep" };
  const { versions } = kind;
  const fixed = versions !== undefined && manifest.value.version !== undefined;
  if (fixed && found.differences.some(({ tokens: [first = ""] }) => !versions.mutable.includes(first))) {
    return block("immutable", found);
  }
  return act(one, "update", found);
}

type Found = Pick<Decision, "differences" | "ignored" | "drifted" | "before" | "after">;

function compare(one: Case, before: Json | undefined, after: Json | undefined): Found {
  const { shape, base } = one;
  const desired = content(one, one.manifest.value);
  const recorded = receipt(one);
  const origin = base === null ? null : content(one, base.manifest);
  const all = differences(shape, before, after).map((difference): Difference => {
    const { tokens } = difference;
    if (isIgnored(one.ignored, tokens)) return { ...difference, cause: "ignored" };
    const cause = causeOf({
      desired: pick(shape, desired, tokens),
      live: difference.before,
      recorded: recorded && {
        written: pick(shape, recorded.written, tokens),
        echo: pick(shape, recorded.echo, tokens),
      },
      base: base && { desired: pick(shape, origin ?? undefined, tokens) },
    });
    return { ...difference, cause };
  });
  const acted = all.filter(({ cause }) => cause !== "ignored");
  const ignored = all.filter(({ cause }) => cause === "ignored").map(({ tokens }) => tokens);
  const drifted = acted.some(({ cause }) => cause === "drift" || cause === "conflict");
  return { differences: acted, ignored, drifted, before, after };
}

function receipt(one: Case): { written: Json | undefined; echo: Json | undefined } | null {
  const { recorded } = one;
  if (recorded === null || recorded.echo === null) return null;
  return { written: content(one, recorded.written), echo: content(one, recorded.echo) };
}

function content({ kind, shape }: Case, manifest: JsonObject | undefined): Json | undefined {
  return contentOf(kind, shape, manifest);
}

function act(one: Case, action: "create" | "update" | "ensure", found: Partial<Found>): Decision {
  const { kind, live, facts, manifest, hasSink } = one;
  if (chooseWriting(kind, live, facts) === null) {
    const cautious = kind.write.some(({ operation, caution }) => caution !== undefined && facts.has(operation));
    return block(cautious ? "model-version-write" : "read-only", found);
  }
  const isNew = action !== "update";
  if (isNew && kind.issuesToken?.(manifest.value) && !hasSink) return block("token-sink", found);
  return { ...NOTHING, ...found, action };
}

function block(reason: Reason, found: Partial<Decision> = {}): Decision {
  return { ...NOTHING, ...found, action: "block", reason };
}
