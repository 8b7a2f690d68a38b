import type { GateStepAnswer } from "../../contract/generated/output.ts";
import { closedGates, closedGatesText } from "../../core/gates/content-gate.ts";
import { manifestToSend } from "../../core/ignore/keep-ignored.ts";
import { type Identity, requireRead } from "../../core/manifest.ts";
import { writes } from "../../core/plan/plan.ts";
import type { PlanWithDecisions } from "../../core/plan/plan-input.ts";
import { kindOf } from "../../kinds/index.ts";
import type { AskedContent, AskGates } from "../gates/ask-gates.ts";
import type { Observed } from "../observe.ts";
import type { Stoppable } from "../run.ts";

/** Asks the gates of every step that would write, or of every resource, about exactly what is or would be sent. */
export async function askAboutSteps(
  { decisions }: PlanWithDecisions,
  { waved, observation }: Observed,
  gates: AskGates | null,
  { stopping: signal, isAsked = writes }: Stoppable & { readonly isAsked?: typeof writes },
): Promise<readonly AskedContent[]> {
  if (gates === null) return [];
  const subjects = waved.flatMap(({ manifest }) => {
    const { identity } = manifest;
    const [decision, kind] = [decisions.get(identity), kindOf(manifest.kind)];
    if (decision === undefined || kind === undefined || !isAsked(decision)) return [];
    const sent = manifestToSend(kind, requireRead(manifest), observation.live.get(identity), decision);
    return [{ kind, identity, manifest: sent }];
  });
  return gates(subjects, { signal });
}

/** The resources that a gate blocks, and why. */
export function closedIn(asked: readonly AskedContent[]): ReadonlyMap<Identity, string> {
  const closed = asked.map(({ gated, receipts }) => [gated.identity, closedGates(gated, receipts)] as const);
  return new Map(closed.flatMap(([identity, some]) => (some.length === 0 ? [] : [[identity, closedGatesText(some)]])));
}

/** What gates say of each step, as the plan shows it. */
export function answersIn(asked: readonly AskedContent[]): ReadonlyMap<Identity, readonly GateStepAnswer[]> {
  return new Map(
    asked.map(({ gated: { identity, gates }, receipts }) => [
      identity,
      receipts.map(({ name, gate, verdict, score, summary }) => {
        return { name, gate, place: gates.get(gate)?.place ?? null, verdict, score, summary };
      }),
    ]),
  );
}
