import type { Json } from "../../contract/json.ts";
import { differences, type FieldDifference } from "../../model/differences.ts";
import { valueAt } from "../../model/normal-form.ts";
import type { Comparison, DecisionInput, Difference, OwnCheck } from "../decide/decision.ts";
import { isIgnored } from "../ignore/ignore-rules.ts";
import { keepIgnored } from "../ignore/keep-ignored.ts";
import { contentOf } from "./compared-content.ts";
import { withDefaults } from "./expected-live.ts";
import { type FieldViews, fieldCauseOf, isActedOn, isOfThisChange } from "./field-cause.ts";

const NO_PATHS: readonly never[] = [];

/** The fields in which a manifest differs from live, each with its cause. */
export function compareFields(one: DecisionInput, before: Json | undefined, after: Json | undefined): Comparison {
  const all = differences(one.kind.shape, before, after);
  if (all.length === 0) return { differences: [], ignored: [], drifted: false, before, after };
  const views = viewsOf(one);
  const found = all.map((difference): Difference => {
    if (isIgnored(one.ignored, difference.tokens)) return { ...difference, cause: "ignored", isOfThisChange: false };
    const seen = views(difference);
    const cause = fieldCauseOf(seen);
    return { ...difference, cause, isOfThisChange: isOfThisChange(seen, cause) };
  });
  const left = found.filter(({ cause }) => !isActedOn(cause)).map(({ tokens }) => tokens);
  return {
    differences: found.filter(({ cause }) => cause !== "ignored"),
    ignored: found.filter(({ cause }) => cause === "ignored").map(({ tokens }) => tokens),
    drifted: found.some(({ cause }) => cause === "drift" || cause === "conflict"),
    before,
    after: keepIgnored(one.kind.shape, after, before, left),
  };
}

// Defaults are filled in on every side, so that writing out a default value does not count as a change.
function viewsOf(one: DecisionInput): (difference: FieldDifference) => FieldViews {
  const { kind, base, applied, manifest } = one;
  const { shape } = kind;
  const recorded = recordedContent(one);
  const given = contentOf(one.kind, manifest.value);
  const desired = withDefaults(shape, given);
  const written = withDefaults(shape, recorded?.written);
  const origin = base === null ? undefined : withDefaults(shape, contentOf(one.kind, base.manifest));
  // A resource that the applied commit does not declare was not applied with it.
  const appliedContent =
    applied?.manifest === undefined ? null : withDefaults(shape, contentOf(one.kind, applied.manifest));
  return ({ tokens, before }) => ({
    desired: valueAt(shape, desired, tokens),
    live: before,
    recorded:
      recorded === null || isIgnored(one.recorded?.unrecorded ?? NO_PATHS, tokens)
        ? null
        : { written: valueAt(shape, written, tokens), returned: valueAt(shape, recorded.returned, tokens) },
    applied: appliedContent === null ? null : { desired: valueAt(shape, appliedContent, tokens) },
    base: base && { desired: valueAt(shape, origin, tokens) },
    isGiven: valueAt(shape, given, tokens) !== undefined,
  });
}

/** The last written manifest and what the server returned, in normal form; null when unknown. */
export function recordedContent(one: DecisionInput): { written: Json | undefined; returned: Json | undefined } | null {
  const { recorded } = one;
  if (recorded === null || recorded.returned === null) return null;
  return { written: contentOf(one.kind, recorded.written), returned: contentOf(one.kind, recorded.returned) };
}

/** What the server would make of the manifest, in normal form; undefined without the reply of a dry run. */
export function dryRunContent(one: OwnCheck): Json | undefined {
  const { dryRun } = one;
  return dryRun?.state === "answered" && dryRun.row !== null ? contentOf(one.kind, dryRun.row.manifest) : undefined;
}
