import { createHash } from "node:crypto";
import type { NotChecked } from "../contract/generated/output.ts";
import { canonical, compareText, equal, type Json, type JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { isActedOn } from "./cause.ts";
import { changeOf } from "./change.ts";
import { withoutVersion } from "./content.ts";
import {
  type BlockingReference,
  type Decision,
  type DecisionInput,
  type Difference,
  type DryRunReply,
  decide,
} from "./decide.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { updateGuard } from "./guard.ts";
import type { RuleFinder } from "./ignore.ts";
import { type Kind, writerIn } from "./kind.ts";
import { isThere, type LiveView } from "./live.ts";
import { type Identity, type ManifestHead, requireRead, splitIdentity } from "./manifest.ts";
import { patchTo } from "./patch.ts";
import { type Change, PLAN_FORMAT, type Plan, reasonText, type Step, summarise, writes } from "./plan.ts";
import { type RecordedHead, requireOpened } from "./recorded.ts";
import { redactManifest } from "./redact-manifest.ts";
import type { ServerFacts } from "./server.ts";
import { firstWriteGuard, type HoldAll, holdBack, type PlanGuards } from "./step-guard.ts";
import { risksOf } from "./step-risks.ts";
import { hiddenFrom, type IsHidden } from "./visibility.ts";

/** A manifest and its depth in the reference graph. */
export type WavedManifest = { readonly manifest: ManifestHead; readonly wave: number };

/** Everything a plan rests on; the same input always gives the same plan. */
export type PlanInput = LiveView & {
  readonly server: string;
  readonly revision: string | null;
  /** The selected manifests, each after everything it refers to. */
  readonly desired: readonly WavedManifest[];
  /** Every identity that the whole source declares, valid or not. */
  readonly declared: ReadonlySet<Identity>;
  /** Declared identities whose manifests were refused. */
  readonly invalid: ReadonlySet<Identity>;
  /** Every receipt, opened where something is decided by it. */
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  /** Manifests at the base commit; null when none is compared with. */
  readonly base: ReadonlyMap<Identity, JsonObject> | null;
  /** Manifests at the commit that was applied last, where that stands in for records; null where none does. */
  readonly applied: ReadonlyMap<Identity, JsonObject> | null;
  readonly kindOf: (type: string) => Kind | undefined;
  readonly shapeOf: (type: string) => Shape;
  readonly facts: ServerFacts;
  /** The id of the subject of our writes; null while unknown. */
  readonly subject: string | null;
  /** Whether what no list shows is not there for sure. */
  readonly seesAll: boolean;
  readonly rulesFor: RuleFinder;
  readonly hasSink: boolean;
  /** Epoch milliseconds; decides which ledger entries still count. */
  readonly now: number;
  readonly complete: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** What holds steps back where nobody is asked; null where somebody is, or nothing is written. */
  readonly guards: PlanGuards | null;
  /** How many resources are in sync as far as anybody knows, and not among `desired`. @default 0 */
  readonly others?: number;
  /** Whether orphans belong in the plan: not when only a part of the source was selected. */
  readonly withOrphans: boolean;
};

/** A plan with the decisions behind its steps, by identity: none for what is known to be in sync. */
export type PlanWithDecisions = { readonly plan: Plan; readonly decisions: ReadonlyMap<Identity, Decision> };

/** Where live cannot be read, the ledger's word is taken for this long. */
const TRUST_MS = 24 * 60 * 60 * 1000;

/** Decides on every manifest, in order, and seals the result. */
export function makePlan(input: PlanInput): PlanWithDecisions {
  const decisions = decideGuarded(input);
  const declared = input.desired.map((placed) => stepOf(input, placed, decisions.get(placed.manifest.identity)));
  const steps = input.withOrphans ? declared.concat(orphans(input)) : declared;
  const drifted = decisions.values().reduce((sum, one) => sum + (one.drifted ? 1 : 0), 0);
  const plan = {
    format_version: PLAN_FORMAT,
    revision: input.revision,
    server: input.server,
    complete: input.complete,
    summary: summarise(steps, drifted, input.others),
    steps,
    diagnostics: [...input.diagnostics, ...blockDiagnostics(input, decisions)],
  } as const;
  return { plan: summed(plan, () => checksum(input, steps)), decisions };
}

// It takes longer than the rest of the plan, and an apply that nobody gave a plan looks at none.
function summed(plan: Omit<Plan, "checksum">, sum: () => string): Plan {
  let known: string | null = null;
  return {
    ...plan,
    get checksum() {
      known ??= sum();
      return known;
    },
  };
}

// Whether too much is updated at once, or everything waits, shows when everything is decided.
function decideGuarded(input: PlanInput): ReadonlyMap<Identity, Decision> {
  const { guards, desired } = input;
  const decisions = decideAll(input, { writes: null, updates: null });
  if (guards === null) return decisions;
  const steps = desired.map(({ manifest }) => decisions.get(manifest.identity) ?? { action: "keep" as const });
  const all = {
    writes: firstWriteGuard(decisions.values(), guards),
    updates: updateGuard(steps, input.others ?? 0, guards.updateShare),
  };
  return all.writes === null && all.updates === null ? decisions : decideAll(input, all);
}

function decideAll(input: PlanInput, all: HoldAll): ReadonlyMap<Identity, Decision> {
  const decisions = new Map<Identity, Decision>();
  const isStale = staleness(input);
  const isHidden = hiddenFrom(input);
  for (const { manifest } of input.desired) {
    const { identity } = manifest;
    if (input.inSync.has(identity)) continue;
    const decision = decideOne(input, manifest, { decisions, isStale, isHidden });
    decisions.set(identity, input.guards === null ? decision : holdBack(identity, decision, input.guards, all));
  }
  return decisions;
}

type Before = {
  /** What was decided about the manifests before it. */
  readonly decisions: ReadonlyMap<Identity, Decision>;
  readonly isStale: (identity: Identity) => boolean;
  readonly isHidden: IsHidden;
};

function decideOne(input: PlanInput, manifest: ManifestHead, { decisions, isStale, isHidden }: Before): Decision {
  const { identity } = manifest;
  const kind = input.kindOf(manifest.kind);
  if (kind === undefined) throw new TypeError(`no kind ${manifest.kind}`);
  const known = input.recorded.get(identity);
  const live = input.live.get(identity) ?? ({ state: "unknown", reason: "no-read" } as const);
  const one: DecisionInput = {
    kind,
    shape: input.shapeOf(manifest.kind),
    manifest: requireRead(manifest),
    live,
    recorded: known === undefined ? null : requireOpened(known),
    dryRun: input.dryRuns.get(identity) ?? null,
    base: input.base && { manifest: input.base.get(identity) },
    applied: input.applied && { manifest: input.applied.get(identity) },
    facts: input.facts,
    ignored: input.rulesFor(identity),
    obstacle: obstacleOf(input, manifest, decisions),
    isHidden: live.state !== "present" && isHidden(manifest, decisions),
    hasSink: input.hasSink,
    isStale: isStale(identity),
  };
  const decision = decide(one);
  const risks = risksOf(one, decision, { subject: input.subject, isEmbedded: input.server === "embedded" });
  return risks.length === 0 ? decision : { ...decision, risks };
}

/**
 * Tells whether the ledger's word on a resource that cannot be read is too old, or not to be trusted: a recorded
 * resource that can be read is gone, and has not left the source as well, which would mean that it was deleted on purpose.
 */
export function staleness({
  recorded,
  declared,
  live,
  now,
}: Pick<PlanInput, "recorded" | "declared" | "live" | "now">): (identity: Identity) => boolean {
  let isDoubted: boolean | null = null;
  return (identity) => {
    isDoubted ??= recorded.keys().some((one) => declared.has(one) && live.get(one)?.state === "absent");
    const known = recorded.get(identity);
    return isDoubted || (known !== undefined && now - known.at > TRUST_MS);
  };
}

function obstacleOf(
  input: PlanInput,
  { references }: ManifestHead,
  decisions: ReadonlyMap<Identity, Decision>,
): BlockingReference | null {
  const { live, invalid, declared, kindOf } = input;
  for (const { identity } of references) {
    // What a guard holds back is to come first, whatever of it is there.
    if (decisions.get(identity)?.reason === "guard") return { reason: "dependency", identity };
    if (isThere(input, identity)) continue;
    if (invalid.has(identity)) return { reason: "dependency", identity };
    if (decisions.get(identity)?.action === "block") return { reason: "dependency", identity };
    const known = live.get(identity)?.state === "absent" && kindOf(splitIdentity(identity).kind) !== undefined;
    if (!declared.has(identity) && known) return { reason: "reference-absent", identity };
  }
  return null;
}

const NONE: readonly never[] = [];
const KEEP = { action: "keep", reason: null, risks: NONE, causedBy: null, differences: NONE } as const;

function keptBy({ inSync }: PlanInput, identity: Identity): "by-ledger" | null {
  return inSync.get(identity) === "ledger" ? "by-ledger" : null;
}

function stepOf(input: PlanInput, { manifest, wave }: WavedManifest, decision: Decision | undefined): Step {
  const { kind, identity, file, line } = manifest;
  const { action, reason, risks, causedBy, differences } = decision ?? { ...KEEP, reason: keptBy(input, identity) };
  if (action === "create") {
    const changes = [contentChange(input, manifest)];
    return { action, kind, identity, file, line, wave, changes, patch: NONE, reason, risks, causedBy };
  }
  const acted = differences.filter(({ cause }) => isActedOn(cause));
  if (acted.length === 0)
    return { action, kind, identity, file, line, wave, changes: NONE, patch: NONE, reason, risks, causedBy };
  const shape = input.shapeOf(kind);
  const live = liveOf(input, manifest) ?? decision?.before;
  const changes = acted.map((one) => changeOf(one, one.cause, { shape, manifest: requireRead(manifest).value, live }));
  const patch = patchTo(shape, live, decision?.after);
  const writer = writerOf(input, manifest, acted);
  return { action, kind, identity, file, line, wave, changes, patch, reason, risks, causedBy, ...writer };
}

// Whoever wrote the newest version is known, and not who changed which field of it.
function writerOf(
  { live }: PlanInput,
  { identity }: ManifestHead,
  acted: readonly Difference[],
): Pick<Step, "changedBy"> | null {
  const found = live.get(identity);
  const hasMoved = acted.some(({ cause }) => cause === "drift" || cause === "conflict");
  return hasMoved && found?.state === "present" ? writerIn(found.row) : null;
}

/** The same plan, with what says why its creates were not checked. */
export function withNotChecked(
  { plan, decisions }: PlanWithDecisions,
  notChecked: ReadonlyMap<Identity, NotChecked>,
): PlanWithDecisions {
  const steps = plan.steps.map((step) => {
    const why = writes(step) ? notChecked.get(step.identity) : undefined;
    return why === undefined ? step : { ...step, notChecked: why };
  });
  const count = steps.filter((step) => step.notChecked !== undefined).length;
  if (count === 0) return { plan, decisions };
  const { format_version, revision, server, complete, summary, diagnostics } = plan;
  const counted = { ...summary, notChecked: count };
  const same = { format_version, revision, server, complete, summary: counted, steps, diagnostics };
  return { plan: summed(same, () => plan.checksum), decisions };
}

/** What a create makes: the whole manifest, masked like every change. */
function contentChange({ shapeOf, recorded, applied, base }: PlanInput, manifest: ManifestHead): Change {
  const { kind, identity, value } = requireRead(manifest);
  const isPending = base !== null && equal(base.get(identity), value);
  const isGone = recorded.has(identity) || (isPending && applied?.has(identity));
  return createdFrom(shapeOf(kind), value, isGone ? "drift" : isPending ? "pending" : "manifest");
}

// Masked when somebody looks: an apply that is not shown its plan would mask 10,000 manifests for nobody.
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

// A version's number is part of its identity: what is compared, and patched, is the rest.
function liveOf({ live, kindOf }: PlanInput, { identity, kind: type }: ManifestHead): JsonObject | undefined {
  const [found, kind] = [live.get(identity), kindOf(type)];
  return found?.state === "present" && kind !== undefined ? withoutVersion(kind, found.row.manifest) : undefined;
}

// What the base declares and the change does not was removed by it, whether it is recorded here or not.
function orphans({ recorded, declared, live, base, applied }: PlanInput): readonly Step[] {
  const known = base === null ? recorded : new Set([...recorded.keys(), ...base.keys(), ...(applied?.keys() ?? [])]);
  return known
    .keys()
    .filter((identity) => !declared.has(identity) && live.get(identity)?.state !== "absent")
    .toArray()
    .toSorted(compareText)
    .map((identity) => ({
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
      causedBy: base === null || base.has(identity) ? "change" : "pending",
    }));
}

function blockDiagnostics(input: PlanInput, decisions: ReadonlyMap<Identity, Decision>): readonly Diagnostic[] {
  const isBlocked = ({ manifest: { identity } }: WavedManifest): boolean => decisions.get(identity)?.action === "block";
  return input.desired.filter(isBlocked).flatMap(({ manifest }): Diagnostic[] => {
    const { identity, file } = manifest;
    const decision = decisions.get(identity);
    if (!decision?.reason) return [];
    return [
      {
        severity: "warning",
        code: decision.reason,
        summary: `${identity} is blocked: ${reasonText[decision.reason]}`,
        detail: decision.detail,
        file,
        ...positionOf(manifest, decision),
      },
    ];
  });
}

function positionOf(manifest: ManifestHead, { pointer }: Decision): Pick<Diagnostic, "line" | "column"> {
  return pointer === null ? { line: manifest.line, column: 1 } : manifest.locate(pointer);
}

// What is done counts: not where it is declared, nor the cause, which depends on the base that was compared with, nor the
// risks, which depend on what this state folder has recorded.
function sealedStep({ risks: _, causedBy: __, notChecked: ___, ...step }: Step): Json {
  return { ...step, file: null, line: null, changes: step.changes.map((change) => ({ ...change, cause: null })) };
}

// Masked values are not in the checksum: revision and live stamps stand for them, so that a published plan gives no
// secret away to guessing.
function checksum({ server, revision, live, desired, shapeOf }: PlanInput, steps: readonly Step[]): string {
  const acting = steps.filter(({ action }) => action !== "keep");
  const isActing = new Set(acting.map(({ identity }) => identity));
  const manifests = new Map(
    desired.flatMap(({ manifest: one }) =>
      isActing.has(one.identity) ? [[one.identity, requireRead(one).value]] : [],
    ),
  );
  const stamps = acting.map(({ identity, kind }): Json => {
    const state = live.get(identity);
    const stamp = state?.state === "present" ? state.row.stamp : (state?.state ?? null);
    return [identity, stamp, redactManifest(shapeOf(kind), manifests.get(identity) ?? null)];
  });
  const sealed: Json = { server, revision, stamps, steps: acting.map(sealedStep) };
  return `sha256:${createHash("sha256").update(canonical(sealed)).digest("hex")}`;
}
