import { shapes } from "../../../src/contract/generated/shapes.ts";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import type { Shape } from "../../../src/contract/manifest-shape.ts";
import { resolveGraph } from "../../../src/core/graph.ts";
import { type IgnoreRule, ruleFinder } from "../../../src/core/ignore/ignore-rules.ts";
import type { LiveRow } from "../../../src/core/kind.ts";
import type { Live } from "../../../src/core/live.ts";
import type { Manifest } from "../../../src/core/manifest.ts";
import { manifestReferences } from "../../../src/core/manifest-references.ts";
import { blockedSteps } from "../../../src/core/plan/blocked-steps.ts";
import { makePlan, withBlockDiagnostics } from "../../../src/core/plan/make-plan.ts";
import type { PlanInput, PlanWithDecisions } from "../../../src/core/plan/plan-input.ts";
import type { Recorded } from "../../../src/core/recorded.ts";
import { kindOf, kindsByType } from "../../../src/kinds/index.ts";
import type { SourceHead } from "../../../src/manifests/source-manifest.ts";

/** A Saturday. */
export const NOON = Date.UTC(2026, 10, 21, 12);

/** The shape of a type that has a schema. */
export function shapeOf(type: string): Shape {
  const shape = shapes[type];
  if (shape === undefined) throw new TypeError(`no shape ${type}`);
  return shape;
}

/** A manifest as the source would declare it. */
export function declare(value: JsonObject, extra: Partial<Manifest> = {}): SourceHead & Manifest {
  const kind = kindOf(String(value.type));
  if (kind === undefined) throw new TypeError(`no kind ${value.type}`);
  const version = kind.hasVersions && value.version !== undefined ? `@${value.version}` : "";
  return {
    kind: kind.type,
    identity: `${kind.type}/${kind.key(value)}${version}`,
    value,
    file: `${value.name}.yaml`,
    line: 1,
    references: manifestReferences(value),
    locate: async () => ({ file: `${value.name}.yaml`, line: 1, column: 1 }),
    ...extra,
  };
}

/** A service in workspace `c1:ws1`. */
export function service(fields: JsonObject = {}): JsonObject {
  return {
    type: "service",
    name: "api",
    workspace_fqn: "c1:ws1",
    image: { type: "image", image_uri: "registry/api:1" },
    ...fields,
  };
}

/** A prompt in repo `r`. */
export function prompt(fields: JsonObject = {}): JsonObject {
  return {
    type: "chat_prompt",
    name: "greeter",
    ml_repo: "r",
    messages: [{ role: "system", content: "Be kind." }],
    ...fields,
  };
}

/** Live with the manifest. */
export function present(manifest: JsonObject, row: Partial<LiveRow> = {}): Live {
  const key = kindOf(String(manifest.type))?.key(manifest) ?? "";
  return { state: "present", row: { key, id: "id-1", manifest, stamp: "stamp-1", ...row } };
}

/** The receipt of a write. */
export function recorded(written: JsonObject, fields: Partial<Recorded> = {}): Recorded {
  const { identity, kind } = declare(written);
  return { identity, kind, id: "id-1", written, returned: written, version: null, at: NOON, ...fields };
}

/** What stands beside the manifests of a plan, by identity. */
export type Around = Partial<Omit<PlanInput, "desired" | "live" | "recorded" | "declared">> & {
  readonly live?: { readonly [identity: string]: Live };
  readonly recorded?: readonly Recorded[];
  readonly declared?: readonly string[];
  readonly ignore?: readonly IgnoreRule[];
};

/** The input of a plan over the manifests. */
export function planInput(manifests: readonly Manifest[], around: Around = {}): PlanInput {
  const { live = {}, recorded: receipts = [], declared = [], ignore = [], ...rest } = around;
  const { order, waves } = resolveGraph(manifests);
  const byIdentity = new Map(manifests.map((manifest) => [manifest.identity, manifest]));
  return {
    server: "http://server",
    revision: null,
    desired: order.flatMap((identity) => {
      const manifest = byIdentity.get(identity);
      return manifest === undefined ? [] : [{ manifest, wave: waves.get(identity) ?? 0 }];
    }),
    declared: new Set([...manifests.map(({ identity }) => identity), ...declared]),
    invalid: new Set(),
    refused: [],
    nameless: [],
    live: new Map(Object.entries(live)),
    inSync: new Map(),
    recorded: new Map(receipts.map((receipt) => [receipt.identity, receipt])),
    dryRuns: new Map(),
    base: null,
    applied: null,
    kinds: kindsByType,
    capabilities: { has: () => true, registers: null },
    writers: new Set(),
    own: new Map(),
    sight: null,
    guards: null,
    rulesFor: ruleFinder(ignore, "2026-11-21"),
    hasSink: true,
    now: NOON,
    complete: true,
    diagnostics: [],
    orphans: "listed",
    removed: new Map(),
    elsewhere: new Set(),
    ...rest,
  };
}

/** A plan over the manifests. */
export function plan(manifests: readonly Manifest[], around: Around = {}): PlanWithDecisions {
  const made = makePlan(planInput(manifests, around));
  const blocked = manifests.filter(({ identity }) => made.decisions.get(identity)?.action === "block");
  return withBlockDiagnostics(
    made,
    blockedSteps(
      blocked.map((manifest) => ({ manifest, position: { file: manifest.file, line: manifest.line, column: 1 } })),
      made.decisions,
    ),
  );
}

/** The plan's only step, with its decision. */
export function only({ plan: { steps }, decisions }: PlanWithDecisions) {
  const [step] = steps;
  const decision = step && decisions.get(step.identity);
  if (step === undefined || decision === undefined || steps.length !== 1) throw new TypeError("not one step");
  return { ...step, decision };
}

/** One manifest against live, as the only step of its plan. */
export function against(desired: JsonObject, live: Live, around: Around = {}) {
  const manifest = declare(desired);
  return only(plan([manifest], { ...around, live: { ...around.live, [manifest.identity]: live } }));
}

/** Paths with their causes. */
export function causes({
  changes,
}: {
  readonly changes: readonly { readonly path: string; readonly cause: string }[];
}) {
  return Object.fromEntries(changes.map(({ path, cause }) => [path, cause]));
}

/** JSON with its keys turned round, at every depth. */
export function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, field]) => [key, reversed(field)]),
  );
}
