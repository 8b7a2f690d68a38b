import { equal } from "../../contract/json.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import type { Plan, Step } from "../../core/plan/plan.ts";
import type { Outcome } from "../../core/report/report.ts";
import type { Recovered } from "./recover.ts";

/** What the current pass knows about the resources of interrupted writes. */
export type CurrentPass = {
  readonly plan: Plan;
  readonly manifests: ReadonlyMap<Identity, Manifest>;
  /** Every identity that the whole source declares. */
  readonly declared: ReadonlySet<Identity>;
  /** Intents whose request this pass sends again: their outcome is reported by their steps. */
  readonly resumed: ReadonlySet<string>;
};

/** Whether an intent is finished: its request will not be sent or looked for again. */
export function isFinished(
  { intent, found, isOpen }: Recovered,
  { manifests, declared, resumed }: CurrentPass,
): boolean {
  if (isOpen || resumed.has(intent.id)) return false;
  if (found === "made") return true;
  const manifest = manifests.get(intent.identity);
  // Not selected: the run that selects it decides.
  if (manifest === undefined) return !declared.has(intent.identity);
  // Still desired and not sent in this run: its key may yet return the reply.
  return found === "not-made" || !equal(intent.manifest, manifest.value);
}

/** The outcomes of an earlier run's writes, except those that this pass reports as its own steps. */
export function interruptedOutcomes(recovered: readonly Recovered[], wanted: CurrentPass): readonly Outcome[] {
  const steps = new Map(wanted.plan.steps.map((step) => [step.identity, step]));
  return recovered
    .filter((one) => isTold(one, steps.get(one.intent.identity), wanted))
    .map(({ intent, found, error }): Outcome => {
      const { identity, kind, creates } = intent;
      const file = wanted.manifests.get(identity)?.file ?? null;
      const made = creates ? "created" : "updated";
      const result =
        error === null ? ({ made, "not-made": "skipped", unknown: "unknown" } as const)[found] : resultOf(error.code);
      return { identity, kind, result, file, rollout: null, error, attempts: 0, interrupted: found };
    });
}

function resultOf(code: string): Outcome["result"] {
  return code === "token-lost" || code === "token-undelivered" ? "failed" : "unknown";
}

function isTold(
  { intent, found, error }: Recovered,
  step: Step | undefined,
  { declared, resumed }: CurrentPass,
): boolean {
  if (resumed.has(intent.id)) return false;
  if (error !== null) return true;
  // A resource that is in sync is reported by its own step.
  if (found === "made") return step?.action !== "keep";
  return step !== undefined || !declared.has(intent.identity);
}
