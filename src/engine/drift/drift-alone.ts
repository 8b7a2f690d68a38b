import { hash } from "node:crypto";
import { canonical } from "../../contract/json.ts";
import { isDriftAlone } from "../../core/decide/drift-alone.ts";
import { writes } from "../../core/plan/plan.ts";
import type { Pass } from "../pass.ts";
import type { LivePlan } from "../plan.ts";
import type { DriftAlone } from "../target.ts";

/** The resources of a plan in which live alone has changed, and which a write would put back. */
export function driftAlone({ decisions }: Pick<LivePlan, "decisions">, { read }: Pick<Pass, "read">): DriftAlone {
  const found = [...decisions].filter(([, one]) => (writes(one) || one.reason === "held") && isDriftAlone(one));
  const differences = found.map(([identity, one]) => [
    identity,
    one.differences.map(({ tokens, before, after }) => [tokens, before ?? null, after ?? null]),
  ]);
  return {
    revision: read.desired.revision,
    branch: read.desired.branch ?? null,
    identities: found.map(([identity]) => identity),
    digest: hash("sha256", canonical(differences.toSorted()), "hex"),
  };
}
