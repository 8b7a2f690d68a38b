import { ClientError } from "../../client/client-error.ts";
import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { SecretUse } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import type { LiveRow } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { writes } from "../../core/plan/plan.ts";
import { isValuePath } from "../../core/referenced-values.ts";
import { kindOf } from "../../kinds/index.ts";
import type { LivePlan } from "../plan.ts";
import type { ReadAccess } from "../session.ts";

/** At most so many secrets are asked about, and so many deployments of each are named. */
const MOST = { secrets: 20, deployments: 100 };

type Changed = {
  readonly identity: Identity;
  readonly key: string;
  readonly id: string;
  readonly changedAt: string | null;
};

type Asking = Pick<ReadAccess, "reader"> & { readonly concurrency: number; readonly signal: AbortSignal };

/** The active deployments that use a secret whose value the plan changes: none of them has the new one. */
export async function findSecretUses(
  { plan, decisions, observation }: Pick<LivePlan, "plan" | "decisions" | "observation">,
  { reader, concurrency, signal }: Asking,
): Promise<readonly SecretUse[]> {
  const changed = plan.steps.filter(writes).flatMap(({ identity, kind }): readonly Changed[] => {
    const live = observation.live.get(identity);
    const found = kindOf(kind);
    if (found?.values === undefined || live?.state !== "present") return [];
    const differing = (decisions.get(identity)?.differences ?? []).filter(({ tokens }) => isValuePath(found, tokens));
    return differing.flatMap(({ tokens: [, key = ""] }) => changedIn(live.row, identity, key));
  });
  const uses: SecretUse[] = [];
  await forEachConcurrently(changed.slice(0, MOST.secrets), concurrency, async (secret) => {
    const use = await usesOf(secret, { reader, signal });
    if (use !== null) uses.push(use);
  });
  return uses.toSorted((a, b) => compareText(`${a.identity} ${a.key}`, `${b.identity} ${b.key}`));
}

function changedIn({ secrets }: LiveRow, identity: Identity, key: string): readonly Changed[] {
  const secret = secrets?.get(key);
  return secret === undefined ? [] : [{ identity, key, ...secret }];
}

// What a plan does not depend on is left out where it cannot be read.
async function usesOf(
  { identity, key, id, changedAt }: Changed,
  { reader, signal }: Pick<Asking, "reader" | "signal">,
): Promise<SecretUse | null> {
  try {
    const where = { path: { id }, limit: MOST.deployments };
    const { rows, total } = await reader.page("listSecretDeployments", where, { signal });
    if (rows.length === 0) return null;
    const isOlder = (createdAt: string): boolean => changedAt !== null && Date.parse(createdAt) < Date.parse(changedAt);
    const deployments = rows
      .map(({ fqn, createdAt }) => ({ fqn, older: isOlder(createdAt) }))
      .toSorted((a, b) => compareText(a.fqn, b.fqn));
    return { identity, key, total, deployments };
  } catch (error) {
    if (error instanceof ClientError) return null;
    throw error;
  }
}
