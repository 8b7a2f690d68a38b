import type { Access } from "../../core/access.ts";
import type { Identity } from "../../core/manifest.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { type Outcome, summariseOutcomes } from "../../core/report/report.ts";
import { missingRoleToWrite } from "../../core/sight.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { SourceHead } from "../../manifests/source-manifest.ts";
import type { ApplyResult } from "../apply.ts";
import { invalidOutcomes } from "../invalid-outcomes.ts";
import type { Pass } from "../pass.ts";
import type { LivePlan } from "../plan.ts";
import type { Run } from "../run.ts";
import { locateOutcome } from "./locate-outcome.ts";

/** The event that reports an applied plan. Invalid manifests are in it even if only a part of the source was processed. */
export async function applyEvent(
  { tokens, ...applied }: ApplyResult,
  { plan, notUsed, desired: { outOfScope }, orphans: { reach }, access }: LivePlan,
  { connection, read, run }: Pass,
): Promise<ApplyEvent> {
  const sent = applied.outcomes.map((outcome) => withMissingRole(outcome, access));
  const outcomes = [...sent, ...(await invalidOutcomes(read.desired, connection.session))];
  const { unchanged, ...others } = summariseOutcomes(outcomes);
  const report = { ...applied, outcomes, summary: { ...others, unchanged: unchanged + (outOfScope ?? 0) } };
  const places = await placesOf(report, read.desired.manifests, run);
  const isPart = outOfScope !== undefined;
  const history = reach === null ? {} : { history: reach };
  return { what: "applied", report, plan, isPart, tokens, notUsed, ...history, places };
}

function withMissingRole(outcome: Outcome, access: Access | null): Outcome {
  const { error, identity } = outcome;
  if (error?.status !== 403) return outcome;
  const role = missingRoleToWrite(access, identity, kindsByType);
  return role === null ? outcome : { ...outcome, error: { ...error, role } };
}

async function placesOf(
  { outcomes }: ApplyEvent["report"],
  manifests: readonly SourceHead[],
  { signal }: Run,
): Promise<ReadonlyMap<Identity, string>> {
  const failed = outcomes.filter(({ error }) => error !== null);
  if (failed.length === 0) return new Map();
  const byIdentity = new Map(manifests.map((manifest) => [manifest.identity, manifest]));
  const places = new Map<Identity, string>();
  for (const outcome of failed) {
    const place = await locateOutcome(outcome, byIdentity, { signal });
    if (place !== null) places.set(outcome.identity, place);
  }
  return places;
}
