import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { POLICY } from "../guards/policy-guard.ts";
import { runWarningCodes } from "../run-warning.ts";
import { type Plan, type Risk, reasonText, type Step } from "./plan.ts";
import type { SignedPlan } from "./signed-plan.ts";

/**
 * Finds contradictions in a plan file that comparing its steps does not detect. When the plan was signed with another
 * key, an editor of the file can recompute its digest. The actions were already compared. Causes, and whether a step
 * adopts, follow from the ledger of the plan's author, so for them only contradictions within the file can be detected.
 */
export function findForged(signed: SignedPlan, plan: Plan): readonly string[] {
  const now = new Map(plan.steps.map((step) => [step.identity, step]));
  return [
    ...(isCounted(signed, plan) ? [] : ["its summary does not count its steps"]),
    ...diagnosticContradictions(signed, plan),
    ...[...signed.steps].flatMap(([identity, step]) => riskContradictions(identity, step, now.get(identity))),
  ];
}

function isCounted({ summary, steps, revision }: SignedPlan, plan: Plan): boolean {
  const all = [...steps.values()];
  const kept = new Set(plan.steps.flatMap(({ action, identity }) => (action === "keep" ? [identity] : [])));
  const done = all.filter(({ identity }) => kept.has(String(identity))).length;
  // At another commit, the number of manifests in sync may differ.
  const isSameCommit = revision !== null && revision === plan.revision;
  return (
    counted.every((action) => summary[action] === all.filter((step) => step.action === action).length) &&
    (summary.notChecked ?? 0) === all.filter(({ notChecked }) => notChecked !== undefined).length &&
    summary.unrecorded === all.filter(isUnrecorded).length &&
    (!isSameCommit || summary.keep === plan.summary.keep - done)
  );
}

// Orphans cause no action, and with a selection they are only counted.
const counted = ["create", "update", "ensure", "block"] as const;

function isUnrecorded({ causedBy, changes }: JsonObject): boolean {
  return (
    causedBy === "unrecorded" ||
    (Array.isArray(changes) && changes.filter(isObject).some(({ cause }) => cause === "unrecorded"))
  );
}

/** Diagnostics about the environment of a pass, which differs between plan and apply. */
const OF_SURROUNDINGS: readonly string[] = [
  "behind-base",
  "applied-ref",
  "unknown-revision",
  POLICY,
  ...runWarningCodes,
];

// Diagnostics of blocked steps are skipped: the steps themselves are compared.
function diagnosticContradictions({ diagnostics }: SignedPlan, plan: Plan): readonly string[] {
  const was = new Set(diagnostics.filter(isObject).map(saidIn));
  const is = new Set(plan.diagnostics.map((diagnostic) => saidIn({ ...diagnostic })));
  return [
    ...[...was.difference(is)].flatMap((said) => (said === "" ? [] : [`only the plan's file says: ${said}`])),
    ...[...is.difference(was)].flatMap((said) => (said === "" ? [] : [`the plan's file does not say: ${said}`])),
  ];
}

// The position is left out: it depends on the working directory.
function saidIn({ severity, code, summary, detail }: JsonObject): string {
  if (Object.hasOwn(reasonText, String(code)) || OF_SURROUNDINGS.includes(String(code))) return "";
  return [`${severity}: ${summary} [${code}]`, ...(detail === null ? [] : [detail])].join(" ");
}

/** The risks that follow from a step's content, whatever is recorded. */
const OF_CONTENT: readonly Risk[] = [
  "privilege-growth",
  "scale-to-zero",
  "exposure",
  "secret-removed",
  "version-immutable",
];

// A step that is already done no longer shows its changes.
function riskContradictions(identity: string, was: JsonObject, now: Step | undefined): readonly string[] {
  if (now === undefined || now.action === "keep") return [];
  const marks = Array.isArray(was.risks) ? was.risks.map(String) : [];
  const causes = new Set(Array.isArray(was.changes) ? was.changes.filter(isObject).map(({ cause }) => cause) : []);
  const reverts = was.action === "update" && (causes.has("drift") || causes.has("conflict"));
  const expected = new Set([...now.risks.filter((risk) => OF_CONTENT.includes(risk)), ...(reverts ? ["reverts"] : [])]);
  const mayAdopt = was.action === "update" || was.action === "ensure";
  const found = new Set(marks.filter((mark) => mark !== "adopts" || !mayAdopt));
  return [
    ...[...found.difference(expected)].map((mark) => `only the plan's file marks ${identity} with ${mark}`),
    ...[...expected.difference(found)].map((mark) => `the plan's file does not mark ${identity} with ${mark}`),
    ...(isCausedSo(was, causes) ? [] : [`the plan's file names another cause of ${identity} than of its changes`]),
  ];
}

// Whether a conflict includes this change depends on the base, so both causes are accepted.
function isCausedSo({ action, causedBy }: JsonObject, causes: ReadonlySet<Json | undefined>): boolean {
  if (action !== "update") return true;
  const isOfThisChange = causes.has("manifest");
  if (isOfThisChange) return causedBy === (causes.size === 1 ? "change" : "mixed");
  if (causes.has("conflict")) return causedBy === "mixed" || causedBy === "drift";
  return causedBy === (["drift", "unrecorded", "pending"].find((cause) => causes.has(cause)) ?? null);
}
