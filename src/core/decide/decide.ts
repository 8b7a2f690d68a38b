// src/core/decide: what becomes of each resource. See docs/architecture.md#whose-change-it-is.

import { equal, type JsonObject } from "../../contract/json.ts";
import { inPlaceFields } from "../../model/normal-form.ts";
import { compareFields, dryRunContent, recordedContent } from "../diff/compare-fields.ts";
import { contentOf, withoutVersion } from "../diff/compared-content.ts";
import { expectedLive } from "../diff/expected-live.ts";
import { fastEqual } from "../diff/fast-equal.ts";
import { isActedOn } from "../diff/field-cause.ts";
import { redactPointer } from "../diff/pointer.ts";
import { type CausedBy, causedByDifferences, causedByManifest } from "../diff/step-cause.ts";
import type { Kind, LiveRow, WriteRoute } from "../kind.ts";
import type { UnknownReason } from "../live.ts";
import type { Reason } from "../plan/plan.ts";
import { redactMessage } from "../redact/redact-message.ts";
import { hasUncompared, isValuePath, UNRESOLVED } from "../referenced-values.ts";
import { chooseWriteOperation } from "./choose-write-operation.ts";
import type { BlockingReference, Comparison, Decision, DecisionInput, Difference } from "./decision.ts";

const NOTHING = {
  reason: null,
  detail: null,
  pointer: null,
  differences: [],
  ignored: [],
  drifted: false,
  risks: [],
  dangers: [],
  causedBy: null,
  before: undefined,
  after: undefined,
};

/** Decides what to do with one manifest. */
export function decide(one: DecisionInput): Decision {
  const decision = withUncompared(one, decideByLive(one));
  return decision.action === "keep" ? decision : { ...decision, causedBy: causedBy(one, decision) };
}

// That nothing differs is then not known.
function withUncompared({ kind, manifest }: DecisionInput, decision: Decision): Decision {
  const isKept = decision.action === "keep" && kind.values !== undefined && hasUncompared(kind, manifest.value);
  return isKept ? { ...decision, reason: "not-compared" } : decision;
}

function causedBy(one: DecisionInput, { differences }: Decision): CausedBy | null {
  const acted = differences.filter(({ cause }) => isActedOn(cause));
  if (acted.length > 0) return causedByDifferences(acted);
  const { base, recorded, applied, manifest, live } = one;
  const isSame = (other: JsonObject | undefined): boolean =>
    other !== undefined && equal(contentOf(one.kind, manifest.value), contentOf(one.kind, other));
  return causedByManifest({
    atBase: base === null ? "not-compared" : isSame(base.manifest) ? "same" : "otherwise",
    isAsWritten: recorded && isSame(recorded.written),
    applied: applied && (applied.manifest === undefined ? "absent" : isSame(applied.manifest) ? "same" : "otherwise"),
    isAbsent: live.state === "absent",
  });
}

function decideByLive(one: DecisionInput): Decision {
  const { live, noFiles } = one;
  if (noFiles !== null) return block("no-files", { detail: noFiles, pointer: "/source" });
  switch (live.state) {
    case "absent": {
      const decision = decideAbsent(one, live.newest ?? 0);
      return wasApplied(one) ? { ...decision, drifted: true } : decision;
    }
    case "present":
      return decidePresent(one, live.row);
    case "unknown":
      if (isRefusal(live.reason)) return refuse(one, live.reason, live.detail);
      return live.reason === "not-visible" ? forbidden(one) : decideUnknown(one);
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
  if (dryRun?.state === "refused") return refuse(one, refusalReason(dryRun), dryRun.message);
  const { version } = manifest.value;
  const skipsVersion = kind.hasVersions && typeof version === "number" && version > newest + 1;
  const declaresPrevious = manifest.references.some(
    ({ identity }) => identity === `${manifest.kind}/${kind.key(manifest.value)}@${Number(version) - 1}`,
  );
  return skipsVersion && !declaresPrevious ? block("version-gap") : act(one, "create", {});
}

function decideUnknown(one: DecisionInput): Decision {
  const { kind, recorded, dryRun } = one;
  if (dryRun?.state === "refused" && !isSameAsWritten(one)) return refuse(one, refusalReason(dryRun), dryRun.message);
  if (recorded === null) return dryRun?.state === "forbidden" ? forbidden(one) : act(one, "ensure", {});
  const [desired, written] = [contentOf(one.kind, one.manifest.value), contentOf(one.kind, recorded.written)];
  if (equal(desired, written)) return trust(one);
  const before = recorded.returned === null ? written : contentOf(one.kind, recorded.returned);
  return follow(one, compareFields(one, before, expectedLive(kind.shape, desired, { written, returned: before })));
}

function forbidden({ roleThatShows }: DecisionInput): Decision {
  return block("forbidden", { detail: `${roleThatShows()} would show it if it exists` });
}

function isSameAsWritten(one: DecisionInput): boolean {
  const { recorded, manifest } = one;
  return recorded !== null && equal(contentOf(one.kind, manifest.value), contentOf(one.kind, recorded.written));
}

// The record equals the manifest, so the resource counts as in sync while the record is fresh.
function trust(one: DecisionInput): Decision {
  const { kind, live, capabilities, manifest } = one;
  const canRepeat = chooseWriteOperation(kind, live, capabilities, manifest.value)?.createsOnly !== true;
  return one.isStale && canRepeat ? act(one, "ensure", {}) : { ...NOTHING, action: "keep", reason: "by-ledger" };
}

function decidePresent(one: DecisionInput, row: LiveRow): Decision {
  const { dryRun, kind, manifest } = one;
  if (row.disabledAt !== undefined) return block("disabled", { detail: `since ${row.disabledAt}` });
  if (isSurelyKept(one, row)) return { ...NOTHING, action: "keep" };
  const [desired, live] = [contentOf(one.kind, manifest.value), contentOf(one.kind, row.manifest)];
  if (equal(desired, live)) return { ...NOTHING, action: "keep" };
  const returned = dryRunContent(one);
  const found = compareFields(one, live, returned ?? expectedLive(kind.shape, desired, recordedContent(one)));
  const acted = found.differences.filter(({ cause }) => isActedOn(cause));
  if (acted.length > 0 && dryRun?.state === "refused") return refuse(one, refusalReason(dryRun), dryRun.message, found);
  const isFixed = kind.hasVersions && manifest.value.version !== undefined;
  if (isFixed && acted.some(({ tokens: [first = ""] }) => !inPlaceFields.includes(first))) {
    return block("immutable", found);
  }
  return follow(one, found);
}

// Most resources are in sync, so comparing them without normalising saves most of a plan's work.
function isSurelyKept({ kind, manifest, recorded, dryRun }: DecisionInput, row: LiveRow): boolean {
  const [desired, live] = [withoutVersion(kind, manifest.value), withoutVersion(kind, row.manifest)];
  if (equal(desired, live)) return true;
  if (dryRun !== null) return false;
  if (recorded === null || recorded.returned === null) return fastEqual(kind.shape, desired, live);
  return equal(recorded.written, manifest.value) && equal(recorded.returned, row.manifest);
}

/** Whether a manifest and live are equal without normalising. False means that they must be normalised to decide. */
export function isFastEqual(kind: Kind, manifest: JsonObject, live: JsonObject): boolean {
  const [desired, found] = [withoutVersion(kind, manifest), withoutVersion(kind, live)];
  return equal(desired, found) || fastEqual(kind.shape, desired, found);
}

function follow(one: DecisionInput, found: Comparison): Decision {
  const acted = found.differences.filter(({ cause }) => isActedOn(cause));
  if (acted.length === 0) return { ...NOTHING, ...found, action: "keep" };
  return act(one, isUnknownValue(one, acted) ? "ensure" : "update", found);
}

// Without a record it is not known which values are live: writing them makes sure, and changes no equal one.
function isUnknownValue({ kind, recorded }: DecisionInput, acted: readonly Difference[]): boolean {
  return recorded === null && acted.every(({ tokens, before }) => before !== undefined && isValuePath(kind, tokens));
}

function act(one: DecisionInput, action: "create" | "update" | "ensure", found: Partial<Decision>): Decision {
  const { kind, live, capabilities, manifest, hasSink, obstacle } = one;
  if (obstacle !== null) return waitFor(obstacle, found);
  const route = chooseWriteOperation(kind, live, capabilities, manifest.value);
  const isKnown = live.state !== "absent" && (one.recorded !== null || action === "update");
  if (kind.writeRoutes.some(isCreation(capabilities)) && (route === null || (route.createsOnly && isKnown)))
    return block("create-only", { ...found, detail: kind.cannotUpdate ?? null });
  if (route === null) {
    const cautious = kind.writeRoutes.some(
      ({ operation, caution }) => caution !== undefined && capabilities.has(operation),
    );
    if (cautious) return block("model-version-write", found);
    return block("read-only", { ...found, detail: kind.cannotWrite ?? null });
  }
  const isNew = action !== "update";
  if (isNew && kind.issuesToken?.(manifest.value) && !hasSink) return block("token-sink", found);
  return { ...NOTHING, ...found, action };
}

function isCreation(capabilities: DecisionInput["capabilities"]): (route: WriteRoute) => boolean {
  return ({ operation, createsOnly }) => createsOnly === true && capabilities.has(operation);
}

// Our control plane uses this code; any other refusal counts as a refused manifest.
function refusalReason({ code }: { readonly code?: string | null }): "disabled" | "secret-source" | "refused" {
  if (code === UNRESOLVED) return UNRESOLVED;
  return code === "disabled" ? "disabled" : "refused";
}

// When a reference is missing, report it instead of the refusal that it caused.
function refuse(
  one: DecisionInput,
  reason: Reason,
  serverMessage: string | undefined,
  found: Partial<Comparison> = {},
): Decision {
  const { obstacle, kind, manifest, dryRun } = one;
  if (obstacle !== null) return waitFor(obstacle, found);
  if (serverMessage === undefined) return block(reason, found);
  const pointer = dryRun?.state === "refused" ? (dryRun.pointer ?? null) : null;
  const message = redactMessage(serverMessage, kind.shape, manifest.value);
  return block(reason, {
    ...found,
    pointer,
    detail: pointer === null ? message : `${redactPointer(pointer)}: ${message}`,
  });
}

function waitFor({ reason, identity, pointer }: BlockingReference, found: Partial<Decision>): Decision {
  return block(reason, { ...found, detail: identity, pointer });
}

function block(reason: Reason, found: Partial<Decision> = {}): Decision {
  return { ...NOTHING, ...found, action: "block", reason };
}
