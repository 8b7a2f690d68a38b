import type { Failure, InterruptedWrite } from "../../contract/generated/output.ts";
import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { readApprovalRule } from "../approvals/approval-rule.ts";
import { exitCodes } from "../errors.ts";
import { FORMAT_VERSION } from "../format-version.ts";
import type { DriftReport } from "../report/report.ts";
import { type Simulation, UNKNOWN_TO_SIMULATION } from "../report/simulation.ts";
import { glyphs, type Plan, reasonText, type Step } from "./plan.ts";

/**
 * A document for one target from `plan -o json` or `drift -o json` (or its failure), or one from `simulate -o json`.
 */
export type PlanDocument =
  | { readonly is: "plan"; readonly target: string | null; readonly plan: Plan }
  | { readonly is: "simulation"; readonly target: null; readonly simulation: Simulation }
  | { readonly is: "drift"; readonly target: string | null; readonly report: DriftReport }
  | { readonly is: "failure"; readonly target: string | null; readonly failure: Failure["error"] };

/** Reads such an output, for one target or several; null for any other document. */
export function readPlanDocuments(document: Json): readonly PlanDocument[] | null {
  if (!isObject(document) || document.format_version !== FORMAT_VERSION) return null;
  const { targets } = document;
  const parts = Array.isArray(targets) ? targets.map(readDocument) : [readDocument(document)];
  const found = parts.filter((part) => part !== null);
  return found.length === parts.length && found.length > 0 ? found : null;
}

function readDocument(document: Json): PlanDocument | null {
  if (!isObject(document)) return null;
  const target = typeof document.target === "string" ? document.target : null;
  const { error } = document;
  if (isObject(error)) {
    const { code, message, hint } = error;
    if (
      typeof code !== "string" ||
      !Object.hasOwn(exitCodes, code) ||
      typeof message !== "string" ||
      !isTextOrNull(hint)
    )
      return null;
    return { is: "failure", target, failure: { code: code as Failure["error"]["code"], message, hint } };
  }
  if (document.simulation === true) {
    return isSimulation(document)
      ? { is: "simulation", target: null, simulation: document as unknown as Simulation }
      : null;
  }
  if (document.drift !== undefined) {
    return isDrift(document) ? { is: "drift", target, report: document as unknown as DriftReport } : null;
  }
  return isPlan(document) ? { is: "plan", target, plan: document as unknown as Plan } : null;
}

// All fields that are shown are checked, because the file may come from an untrusted job.
function isPlan(plan: JsonObject): boolean {
  const { revision, server, complete, summary, ignored, steps, diagnostics, history, hardware } = plan;
  const { approvals } = plan;
  const { notWritable = [], secretUses = [], interrupted = [], registryOnly = [], policies = [] } = plan;
  return (
    isTextOrNull(revision) &&
    typeof server === "string" &&
    typeof complete === "boolean" &&
    hasCounts(summary, planCounts) &&
    (ignored === undefined || Number.isSafeInteger(ignored)) &&
    isListOf(steps, isStep) &&
    isReach(history) &&
    isListOf(notWritable, isNotWritable) &&
    isHardwareChange(hardware) &&
    (approvals === undefined || typeof readApprovalRule(approvals) !== "string") &&
    isListOf(secretUses, isSecretUse) &&
    isListOf(interrupted, isInterrupted) &&
    isListOf(registryOnly, isRegistryOnly) &&
    isListOf(policies, isFinding) &&
    isListOf(diagnostics, isDiagnostic)
  );
}

function isDrift({ server, complete, summary, drift, diagnostics, history, registryOnly = [] }: JsonObject): boolean {
  const isEntry = ({ identity, kind, file, line, state, changes, changedBy, orphan }: JsonObject): boolean =>
    typeof identity === "string" &&
    typeof kind === "string" &&
    isTextOrNull(file) &&
    (line === null || Number.isSafeInteger(line)) &&
    driftStates.some((known) => known === state) &&
    isListOf(changes, isChange) &&
    isLastWrite(changedBy) &&
    isOrphan(orphan);
  return (
    typeof server === "string" &&
    typeof complete === "boolean" &&
    hasCounts(summary, driftStates) &&
    isListOf(drift, isEntry) &&
    isReach(history) &&
    isListOf(registryOnly, isRegistryOnly) &&
    isListOf(diagnostics, isDiagnostic)
  );
}

// Further counts are absent when they are 0.
function hasCounts(summary: Json | undefined, required: readonly string[]): boolean {
  if (!isObject(summary)) return false;
  return [...required, ...Object.keys(summary)].every((name) => Number.isSafeInteger(summary[name]));
}

const planCounts = ["create", "update", "keep", "ensure", "block", "orphan", "invalid"] as const;
const driftStates = ["drifted", "unrecorded", "absent", "unchanged", "unknown", "orphan", "invalid"] as const;

function isLastWrite(changedBy: Json | undefined): boolean {
  return (
    changedBy === undefined ||
    (isObject(changedBy) && [changedBy.subject, changedBy.subjectId, changedBy.at].every(isTextOrNull))
  );
}

function isOrphan(orphan: Json | undefined): boolean {
  if (orphan === undefined) return true;
  if (!isObject(orphan)) return false;
  const { recorded, isLive, notVisible, removedBy } = orphan;
  const isRemoval =
    removedBy === undefined ||
    (isObject(removedBy) && [removedBy.commit, removedBy.author, removedBy.at].every(isTextOrNull));
  const isHidden = notVisible === undefined || notVisible === true;
  return typeof recorded === "boolean" && typeof isLive === "boolean" && isHidden && isRemoval;
}

function isReach(reach: Json | undefined): boolean {
  if (reach === undefined) return true;
  return isObject(reach) && Number.isSafeInteger(reach.commits) && isKeyOf(reachEnds, reach.ended);
}

function isSimulation({ base, change, revert, stays, notComparable, unknown, unseen }: JsonObject): boolean {
  const isLeftover = ({ identity, what }: JsonObject): boolean =>
    typeof identity === "string" && isKeyOf(leftovers, what);
  return (
    [base, change, revert].every(isPhase) &&
    isListOf(stays, isLeftover) &&
    isTexts(notComparable) &&
    isTexts(unseen) &&
    // Text of others would be shown as our own.
    Array.isArray(unknown) &&
    unknown.every((one) => UNKNOWN_TO_SIMULATION.some((known) => known === one))
  );
}

function isPhase(phase: Json | undefined): boolean {
  const isRefusal = ({ identity, why }: JsonObject): boolean => typeof identity === "string" && typeof why === "string";
  if (!isObject(phase)) return false;
  const { created, updated, rollouts, refused } = phase;
  return [created, updated, rollouts].every(isTexts) && isListOf(refused, isRefusal);
}

function isTexts(value: Json | undefined): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isStep(step: JsonObject): boolean {
  const { action, identity, kind, file, line, wave, changes, reason, risks, causedBy } = step;
  const { changedBy, guard, notChecked } = step;
  return (
    isKeyOf(glyphs, action) &&
    typeof identity === "string" &&
    typeof kind === "string" &&
    isTextOrNull(file) &&
    (line === null || Number.isSafeInteger(line)) &&
    Number.isSafeInteger(wave) &&
    isListOf(changes, isChange) &&
    (reason === null || isKeyOf(reasonText, reason)) &&
    Array.isArray(risks) &&
    risks.every((risk) => isKeyOf(riskNames, risk)) &&
    (causedBy === null || isKeyOf(causers, causedBy)) &&
    isLastWrite(changedBy) &&
    isOrphan(step.orphan) &&
    (guard === undefined || isGuard(guard)) &&
    (notChecked === undefined || isNotChecked(notChecked)) &&
    (step.gates === undefined || isListOf(step.gates, isGateAnswer)) &&
    (step.policies === undefined || isListOf(step.policies, isFinding))
  );
}

function isFinding({ name, severity, message, file, line, column }: JsonObject): boolean {
  return (
    [name, message, file].every((text) => typeof text === "string") &&
    (severity === "deny" || severity === "confirm" || severity === "warn") &&
    [line, column].every((number) => Number.isSafeInteger(number))
  );
}

function isGateAnswer({ name, gate, place, verdict, score, summary }: JsonObject): boolean {
  const isPlace = isObject(place) && typeof place.file === "string" && typeof place.line === "number";
  return (
    (place === null || isPlace) &&
    [name, gate, summary].every((text) => typeof text === "string") &&
    (verdict === "pass" || verdict === "fail" || verdict === "unanswered") &&
    (score === null || typeof score === "number")
  );
}

function isChange({ path, label, before, after, cause, diff }: JsonObject): boolean {
  const hasBothSides = before !== undefined && after !== undefined;
  return (
    hasBothSides &&
    [path, label].every((text) => typeof text === "string") &&
    isKeyOf(causes, cause) &&
    (diff === null || isDiff(diff))
  );
}

// Its lines are shown as they are: each begins with its sign.
function isDiff(diff: Json | undefined): boolean {
  return typeof diff === "string" && diff.split("\n").every((line) => line === "" || /^[ +@\\-]/.test(line));
}

function isDiagnostic(diagnostic: JsonObject): boolean {
  const { severity, code, summary, detail, documents, file, line, column, related = [] } = diagnostic;
  const isPlace = [line, column].every((number) => number === null || Number.isSafeInteger(number));
  const isKnown = severity === "error" || severity === "warning";
  return (
    isKnown &&
    typeof code === "string" &&
    typeof summary === "string" &&
    isTextOrNull(detail) &&
    isTextOrNull(file) &&
    (documents === undefined || Number.isSafeInteger(documents)) &&
    isPlace &&
    isListOf(related, isRelated)
  );
}

function isRelated({ file, line, column }: JsonObject): boolean {
  return typeof file === "string" && Number.isSafeInteger(line) && Number.isSafeInteger(column);
}

function isGuard(value: Json): boolean {
  if (!isObject(value) || !Array.isArray(value.flags)) return false;
  if (!value.flags.every((flag) => typeof flag === "string" && /^--[a-z-]+(?: [a-z0-9-]+)?$/.test(flag))) return false;
  const { policies = [], isDenied = true } = value;
  if (!isTexts(policies) || isDenied !== true) return false;
  return isListOf(value.dangers, ({ risk, path, text }) => {
    return isKeyOf(riskNames, risk) && isTextOrNull(path) && typeof text === "string";
  });
}

function isNotWritable({ role, identities }: JsonObject): boolean {
  return typeof role === "string" && isTexts(identities);
}

function isHardwareChange(change: Json | undefined): boolean {
  if (change === undefined) return true;
  return (
    isObject(change) &&
    isHardwareDifference(change.total) &&
    isListOf(change.workspaces, ({ workspace, difference }) => {
      return typeof workspace === "string" && isHardwareDifference(difference);
    })
  );
}

function isHardwareDifference(value: Json | undefined): boolean {
  if (!isObject(value)) return false;
  const { replicas, cpu, memory, storage, devices } = value;
  return (
    [replicas, cpu, memory, storage].every((one) => typeof one === "number") &&
    isListOf(devices, ({ name, count }) => typeof name === "string" && typeof count === "number")
  );
}

function isSecretUse({ identity, key, total, deployments }: JsonObject): boolean {
  return (
    typeof identity === "string" &&
    typeof key === "string" &&
    Number.isSafeInteger(total) &&
    isListOf(deployments, ({ fqn, older }) => typeof fqn === "string" && typeof older === "boolean")
  );
}

function isRegistryOnly({ kind, count, identities }: JsonObject): boolean {
  return typeof kind === "string" && (count === null || Number.isSafeInteger(count)) && isTexts(identities);
}

function isInterrupted({ identity, found, next, token, arrivesUntil }: JsonObject): boolean {
  return (
    typeof identity === "string" &&
    isKeyOf(interruptedFound, found) &&
    isKeyOf(interruptedNext, next) &&
    (token === null || isKeyOf(interruptedToken, token)) &&
    (arrivesUntil === null || (typeof arrivesUntil === "string" && /^[\d:.TZ-]+$/.test(arrivesUntil)))
  );
}

function isNotChecked(value: Json): boolean {
  if (!isObject(value) || !isKeyOf(notCheckedReasons, value.reason)) return false;
  const { on = [] } = value;
  return Array.isArray(on) && on.every((one) => typeof one === "string");
}

type Names<Of extends string> = { readonly [name in Of]: true };

const interruptedFound: Names<InterruptedWrite["found"]> = { made: true, "not-made": true, unknown: true };

const interruptedNext: Names<InterruptedWrite["next"]> = {
  record: true,
  send: true,
  close: true,
  keep: true,
  report: true,
};

const interruptedToken: Names<NonNullable<InterruptedWrite["token"]>> = { delivered: true, lost: true };

const leftovers: Names<Simulation["stays"][number]["what"]> = {
  resource: true,
  update: true,
  versions: true,
  token: true,
};

const riskNames: Names<Step["risks"][number]> = {
  adopts: true,
  "privilege-growth": true,
  "scale-to-zero": true,
  exposure: true,
  "secret-removed": true,
  reverts: true,
  "version-immutable": true,
};

const causers: Names<NonNullable<Step["causedBy"]>> = {
  change: true,
  pending: true,
  drift: true,
  mixed: true,
  unrecorded: true,
};

const reachEnds: Names<NonNullable<Plan["history"]>["ended"]> = { start: true, limit: true, cut: true, shallow: true };

const causes: Names<Step["changes"][number]["cause"]> = {
  manifest: true,
  pending: true,
  drift: true,
  conflict: true,
  unrecorded: true,
  default: true,
  server: true,
  ignored: true,
};

const notCheckedReasons: Names<NonNullable<Step["notChecked"]>["reason"]> = {
  "depends-on": true,
  unproven: true,
  "needs-write": true,
  unsupported: true,
  unanswered: true,
  skipped: true,
};

function isKeyOf(names: object, value: Json | undefined): boolean {
  return typeof value === "string" && Object.hasOwn(names, value);
}

function isTextOrNull(value: Json | undefined): value is string | null {
  return value === null || typeof value === "string";
}

function isListOf(value: Json | undefined, isOne: (item: JsonObject) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isObject(item) && isOne(item));
}
