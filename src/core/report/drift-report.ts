import { compareText, type JsonObject } from "../../contract/json.ts";
import { differences } from "../../model/differences.ts";
import type { Decision } from "../decide/decision.ts";
import { differencesFrom } from "../decide/own-content.ts";
import { changeOf, type Sides } from "../diff/change.ts";
import { contentOf } from "../diff/compared-content.ts";
import { isActedOn } from "../diff/field-cause.ts";
import { FORMAT_VERSION } from "../format-version.ts";
import { isIgnored } from "../ignore/ignore-rules.ts";
import { kindIn, type LiveRow, requireKind, writerIn } from "../kind.ts";
import { type Identity, type ManifestHead, requireRead, splitIdentity } from "../manifest.ts";
import { type FoundOrphan, findOrphans } from "../plan/orphans.ts";
import type { Change } from "../plan/plan.ts";
import type { PlanInput, PlanWithDecisions } from "../plan/plan-input.ts";
import { type RecordedHead, requireOpened } from "../recorded.ts";
import type { DriftEntry, DriftReport } from "./report.ts";

/** The input of a drift report: the input of a plan, and the plan itself. */
export type DriftInput = Pick<
  PlanInput,
  | "server"
  | "desired"
  | "declared"
  | "live"
  | "inSync"
  | "recorded"
  | "kinds"
  | "rulesFor"
  | "complete"
  | "diagnostics"
  | "refused"
  | "nameless"
  | "orphans"
  | "base"
  | "applied"
  | "removed"
  | "elsewhere"
  | "own"
  | "dryRuns"
> & {
  readonly planned: PlanWithDecisions;
  /** Whether manifests replace missing records; otherwise a new, absent resource has only not been applied yet. */
  readonly standsIn: boolean;
};

/**
 * Reports what changed in live since it was recorded. Without a record, the manifest takes its place, so that a runner
 * without a ledger also detects drift.
 */
export function makeDrift(input: DriftInput): DriftReport {
  const manifests = new Map(input.desired.map(({ manifest }) => [manifest.identity, manifest]));
  const orphans = input.orphans === "none" ? [] : findOrphans(input).map(orphanEntry);
  // What is recorded and declared by a broken manifest is compared too.
  const broken = input.orphans === "listed" ? input.recorded.keys().filter((one) => input.declared.has(one)) : [];
  const identities = [...new Set([...manifests.keys(), ...broken])];
  const findings = identities.map((identity) => findingFor(identity, manifests.get(identity) ?? null, input));
  const moved = findings.filter((finding) => finding !== null && finding !== "unchanged");
  const shown = input.orphans === "listed" ? [...moved, ...orphans] : moved;
  const drift = shown.toSorted((a, b) => compareText(a.identity, b.identity));
  const { notVisible } = input.planned.plan.summary;
  const count = (state: DriftEntry["state"]): number => drift.filter((entry) => entry.state === state).length;
  return {
    format_version: FORMAT_VERSION,
    server: input.server,
    complete: input.complete && input.refused.length === 0,
    summary: {
      drifted: count("drifted"),
      unrecorded: count("unrecorded"),
      absent: count("absent"),
      unchanged: findings.filter((finding) => finding === "unchanged").length,
      unknown: count("unknown"),
      orphan: orphans.length,
      invalid: input.refused.length,
      ...(notVisible === undefined ? {} : { notVisible }),
    },
    drift,
    diagnostics: input.diagnostics,
  };
}

function orphanEntry({ identity, ...orphan }: FoundOrphan): DriftEntry {
  const { kind } = splitIdentity(identity);
  return { identity, kind, file: null, line: null, state: "orphan", changes: [], orphan };
}

function findingFor(
  identity: Identity,
  manifest: ManifestHead | null,
  input: DriftInput,
): DriftEntry | "unchanged" | null {
  const live = input.live.get(identity);
  const recorded = input.recorded.get(identity);
  const entry = (
    state: DriftEntry["state"],
    changes: readonly Change[] = [],
    row: LiveRow | null = null,
  ): DriftEntry => ({
    identity,
    kind: splitIdentity(identity).kind,
    file: manifest?.file ?? null,
    line: manifest?.line ?? null,
    state,
    changes,
    ...(row === null ? null : writerIn(row)),
  });
  if (input.inSync.get(identity) === "live") return "unchanged";
  if (live === undefined || live.state === "unknown") return entry("unknown");
  if (live.state === "absent") return recorded === undefined && !input.standsIn ? null : entry("absent");
  const sides = {
    shape: requireKind(input.kinds, splitIdentity(identity).kind).shape,
    // A manifest without a decision was not read.
    manifest: manifest !== null && input.planned.decisions.has(identity) ? requireRead(manifest).value : undefined,
    live: live.row.manifest,
  };
  const changes = recorded === undefined ? unrecordedChanges(manifest, sides, input) : moved(recorded, sides, input);
  if (changes.length === 0) return "unchanged";
  return entry(changes.some(({ cause }) => cause === "drift") ? "drifted" : "unrecorded", changes, live.row);
}

function moved(
  recorded: RecordedHead,
  sides: Sides & { readonly live: JsonObject },
  input: DriftInput,
): readonly Change[] {
  const { identity } = recorded;
  const kind = input.kinds.get(recorded.kind);
  if (kind === undefined) return [];
  const { shape, live } = sides;
  const rules = input.rulesFor(identity);
  const { returned, written, unrecorded = [] } = requireOpened(recorded);
  const before = contentOf(kind, returned ?? written);
  const changes = differences(shape, before, contentOf(kind, live))
    .filter(({ tokens }) => !isIgnored(rules, tokens) && !isIgnored(unrecorded, tokens))
    .map((difference) => changeOf(difference, "drift", sides));
  if (unrecorded.length === 0) return changes;
  const isUnrecorded = (tokens: readonly string[]): boolean => isIgnored(unrecorded, tokens);
  const others = standIn(identity, input, { sides, isMeant: isUnrecorded });
  return [...changes, ...others].toSorted((a, b) => compareText(a.label, b.label));
}

// What is known to have been live before takes the place of the record.
function unrecordedChanges(
  manifest: ManifestHead | null,
  sides: Sides & { readonly live: JsonObject },
  input: DriftInput,
): readonly Change[] {
  if (manifest === null) return [];
  const { identity } = manifest;
  const before = input.own.get(identity)?.manifest ?? null;
  const kind = kindIn(input.kinds, identity);
  if (before === null || kind === undefined) return standIn(identity, input, { sides });
  const ignored = input.rulesFor(identity);
  const dryRun = input.dryRuns.get(identity) ?? null;
  const check = { kind, manifest: requireRead(manifest), dryRun, ignored };
  return differencesFrom(check, before, sides.live).map((difference) => changeOf(difference, "drift", sides));
}

// The plan compares live with the manifest, so its sides are swapped. Without a record the side that moved is unknown.
function standIn(
  identity: Identity,
  { planned }: DriftInput,
  { sides, isMeant = () => true }: { readonly sides: Sides; readonly isMeant?: (tokens: readonly string[]) => boolean },
): readonly Change[] {
  const decision: Decision | undefined = planned.decisions.get(identity);
  const moved = (decision?.differences ?? []).filter((one) => isActedOn(one.cause) && isMeant(one.tokens));
  return moved.map((one) => changeOf({ ...one, before: one.after, after: one.before }, "unrecorded", sides));
}
