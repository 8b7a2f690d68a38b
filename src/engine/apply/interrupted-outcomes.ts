import { equal } from "../../contract/json.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import type { Plan, Step } from "../../core/plan/plan.ts";
import type { Outcome } from "../../core/report/report.ts";
import type { PendingIntent } from "../../state/ledger.ts";
import type { Recovered } from "./recover.ts";
import type { WriteEffect } from "./verify-write.ts";

/** The current pass, as far as it concerns the resources of interrupted writes. */
export type CurrentPass = {
  readonly plan: Plan;
  readonly manifests: ReadonlyMap<Identity, Manifest>;
  /** Every identity that the whole source declares. */
  readonly declared: ReadonlySet<Identity>;
  /** Intents whose request this pass sends again; their steps report the outcome. */
  readonly resumed: ReadonlySet<string>;
};

/** Whether an intent is finished: its request will not be sent or searched for again. */
export function isFinished(
  { intent, effect, isOpen }: Recovered,
  { manifests, declared, resumed }: CurrentPass,
): boolean {
  if (isOpen || resumed.has(intent.id)) return false;
  if (effect === "applied") return true;
  const manifest = manifests.get(intent.identity);
  // Not selected here: a run that selects the resource decides.
  if (manifest === undefined) return !declared.has(intent.identity);
  // Still desired and not sent in this run: its key may still return the reply.
  return effect === "not-applied" || !equal(intent.manifest, manifest.value);
}

/** The outcomes of an earlier run's writes, except those that steps of this pass report. */
export function interruptedOutcomes(recovered: readonly Recovered[], wanted: CurrentPass): readonly Outcome[] {
  const steps = new Map(wanted.plan.steps.map((step) => [step.identity, step]));
  return recovered
    .filter((one) => isReported(one, steps.get(one.intent.identity), wanted))
    .map(({ intent, effect, error }): Outcome => {
      const { identity, kind } = intent;
      const file = wanted.manifests.get(identity)?.file ?? null;
      const result = error === null ? resultOf(effect, intent) : resultOfError(error.code);
      return { identity, kind, result, file, rollout: null, error, attempts: 0, interrupted: interruptedOf[effect] };
    });
}

// The words of the JSON report.
const interruptedOf: { readonly [effect in WriteEffect["effect"]]: NonNullable<Outcome["interrupted"]> } = {
  applied: "made",
  "not-applied": "not-made",
  superseded: "unknown",
  unreadable: "unknown",
};

function resultOf(effect: WriteEffect["effect"], { creates }: PendingIntent): Outcome["result"] {
  if (effect === "applied") return creates ? "created" : "updated";
  return effect === "not-applied" ? "skipped" : "unknown";
}

function resultOfError(code: string): Outcome["result"] {
  return code === "token-lost" || code === "token-undelivered" ? "failed" : "unknown";
}

function isReported(
  { intent, effect, error }: Recovered,
  step: Step | undefined,
  { declared, resumed }: CurrentPass,
): boolean {
  if (resumed.has(intent.id)) return false;
  if (error !== null) return true;
  // The step of a resource in sync reports it.
  if (effect === "applied") return step?.action !== "keep";
  return step !== undefined || !declared.has(intent.identity);
}
