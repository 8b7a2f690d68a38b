// src/engine/drift: what was changed in live, as a change of the manifests. See docs/drift.md.

import type { NotProposed } from "../../contract/generated/output.ts";
import type { Decision } from "../../core/decide/decision.ts";
import { isDriftAlone } from "../../core/decide/drift-alone.ts";
import { takeLive } from "../../core/diff/declared-form.ts";
import { requireKind } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import type { DriftProposal, ManifestUpdate } from "../../core/report/events.ts";
import type { DriftReport } from "../../core/report/report.ts";
import { kindsByType } from "../../kinds/index.ts";
import { takenOver } from "../import/taken-over.ts";
import type { DesiredRead } from "../load.ts";
import type { LivePlan } from "../plan.ts";
import { editManifests, type PromotedSource } from "../promotion/edit-manifests.ts";
import type { LocatedUpdate } from "../promotion/update-patched.ts";
import type { Stoppable } from "../run.ts";

/** The drift of a target, as its report has it, and what it was found in. */
type FoundDrift = {
  readonly livePlan: LivePlan;
  readonly report: DriftReport;
  readonly read: DesiredRead;
  /** Whether the manifests stand in for the records, so that every difference counts as drift. */
  readonly standsIn: boolean;
  readonly readerOf: PromotedSource["readerOf"];
  /** The resources of which drift is proposed; absent for all. */
  readonly only?: ReadonlySet<Identity>;
};

/** Finds how the manifests of a target have to change to say what was changed in live. No file is written. */
export async function driftProposal(
  { livePlan, report, read, standsIn, readerOf, only }: FoundDrift,
  run: Stoppable,
): Promise<DriftProposal> {
  const { desired, from: indexed } = read;
  if (indexed === null) throw new TypeError("a proposal needs the files of its source");
  const manifests = new Map(livePlan.waved.map(({ manifest }) => [manifest.identity, manifest]));
  const isTaken = (cause: Decision["differences"][number]["cause"]): boolean =>
    cause === "drift" || (standsIn && cause === "unrecorded");
  const [updates, refused]: [LocatedUpdate[], NotProposed[]] = [[], []];
  for (const { identity, kind, state } of report.drift) {
    const manifest = manifests.get(identity);
    if (manifest === undefined || state === "orphan" || state === "unknown") continue;
    if (only?.has(identity) === false) continue;
    const decision = livePlan.decisions.get(identity);
    if (state !== "absent" && (decision === undefined || !isDriftAlone(decision, isTaken))) {
      refused.push({ identity, kind, ...(state === "unrecorded" ? NOT_RECORDED : NOT_APPLIED) });
      continue;
    }
    const { uncommitted } = desired;
    for (const one of takenOver(manifest, livePlan, { uncommitted, isTaken })) {
      if ("fields" in one) updates.push(one);
      else if (one.why !== undefined) refused.push({ identity, kind, why: whyOf(one.why), detail: one.detail ?? "" });
    }
  }
  const edited = await editFields(updates, { indexed, readerOf }, run);
  return {
    revision: desired.revision,
    branch: desired.branch ?? null,
    proposed: edited.proposed,
    refused: [...refused, ...edited.refused].toSorted((a, b) => (a.identity < b.identity ? -1 : 1)),
    files: edited.files,
  };
}

const NOT_RECORDED = {
  why: "not-recorded",
  detail: "it was not applied from here, so nobody knows whether git or live has changed",
} as const;
const NOT_APPLIED = { why: "not-applied", detail: "a commit that is not applied yet changes it too" } as const;

function whyOf(why: string): NotProposed["why"] {
  return why === "absent" || why === "literal-secret" || why === "not-declarable" ? why : "unreadable";
}

/** A resource with more fields than that is taken over whole, or not at all. */
const MOST_FIELDS = 8;

type Edited = Pick<DriftProposal, "proposed" | "refused" | "files">;

// One field that a file cannot say, such as one from an anchor, does not keep the others of its resource back.
async function editFields(updates: readonly LocatedUpdate[], source: PromotedSource, run: Stoppable): Promise<Edited> {
  const whole = await editManifests(updates, source, run);
  const left = new Set(whole.refused.filter(({ why }) => why === "not-editable").map(({ identity }) => identity));
  const partly = updates.filter((one) => left.has(one.identity) && isDivisible(one));
  const possible = new Map<Identity, readonly number[]>();
  for (let at = 0; at < Math.max(0, ...partly.map(({ fields }) => fields.length)); at++) {
    const some = partly.filter(({ fields }) => at < fields.length).map((one) => narrowed(one, [at]));
    const { promoted } = await editManifests(some, source, run);
    for (const { identity } of promoted) possible.set(identity, [...(possible.get(identity) ?? []), at]);
  }
  const wanted = updates.flatMap((one) => {
    if (!left.has(one.identity)) return [one];
    const fields = possible.get(one.identity) ?? [];
    return fields.length === 0 ? [] : [narrowed(one, fields)];
  });
  const { promoted, files, refused } = possible.size === 0 ? whole : await editManifests(wanted, source, run);
  const made = new Map(promoted.map(({ identity, changes }) => [identity, changes.length]));
  const others = [...whole.refused.filter(({ identity }) => !possible.has(identity)), ...refused];
  const rest = updates.filter(
    ({ identity, changes }) => possible.has(identity) && made.get(identity) !== changes.length,
  );
  return {
    proposed: promoted.map(asUpdate).toSorted((a, b) => (a.identity < b.identity ? -1 : 1)),
    refused: [
      ...[...new Map(others.map((one) => [one.identity, one])).values()].flatMap(notMade),
      ...rest.flatMap((one) => notAll(one, possible.get(one.identity) ?? [])),
    ],
    files,
  };
}

function isDivisible({ fields }: LocatedUpdate): boolean {
  return fields.length > 1 && fields.length <= MOST_FIELDS;
}

function narrowed(one: LocatedUpdate, at: readonly number[]): LocatedUpdate {
  const fields = one.fields.filter((_, nth) => at.includes(nth));
  const changes = one.changes.filter((_, nth) => at.includes(nth));
  return { ...one, fields, changes, after: takeLive(requireKind(kindsByType, one.kind), one.before, one.live, fields) };
}

function notMade({
  identity,
  kind,
  why,
  detail,
}: { readonly identity: Identity } & Pick<NotProposed, "kind" | "detail"> & {
    readonly why: string;
  }): readonly NotProposed[] {
  return [{ identity, kind, why: why === "shared" ? "shared" : "not-editable", detail }];
}

function notAll({ identity, kind, file, changes }: LocatedUpdate, possible: readonly number[]): readonly NotProposed[] {
  const fields = changes.filter((_, nth) => !possible.includes(nth)).map(({ path }) => path);
  if (fields.length === 0) return [];
  return [{ identity, kind, why: "not-editable", detail: `change ${file} by hand: ${fields.join(", ")}` }];
}

function asUpdate({ manifest: _, live: __, fields: ___, ...update }: LocatedUpdate): ManifestUpdate {
  return update;
}
