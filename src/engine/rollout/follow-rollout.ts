import type { Reader } from "../../client/reader.ts";
import type { Deployment } from "../../contract/generated/resources.ts";
import { rolloutState } from "../../contract/rollout-state.ts";
import type { RolloutResult } from "../../core/report/report.ts";
import { type Following, pollUntilEnd } from "./poll-until-end.ts";

/** The deployment whose rollout is followed. */
export type Rollout = { readonly applicationId: string; readonly deploymentId: string };

/** Follows a rollout through `listDeployments` until it ends or times out. */
export async function followRollout(
  reader: Reader,
  { applicationId, deploymentId }: Rollout,
  following: Following,
): Promise<Exclude<RolloutResult, null>> {
  return pollUntilEnd(async () => {
    const deployment = await readDeployment(reader, applicationId, { deploymentId }, following.signal);
    const current = deployment?.currentStatus;
    return { status: current?.status ?? "", state: rolloutState(current) };
  }, following);
}

/** The deployment that an application is still rolling out; undefined when the newest one has ended. */
export async function deploymentInProgress(
  reader: Reader,
  applicationId: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Deployment | undefined> {
  const newest = await readDeployment(reader, applicationId, {}, signal);
  return newest !== undefined && rolloutState(newest.currentStatus) === "progressing" ? newest : undefined;
}

async function readDeployment(
  reader: Reader,
  id: string,
  query: { readonly [name: string]: string },
  signal: AbortSignal,
): Promise<Deployment | undefined> {
  const { rows } = await reader.page("listDeployments", { path: { id }, query, limit: 1 }, { signal });
  return rows[0];
}
