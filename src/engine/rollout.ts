import { setTimeout as wait } from "node:timers/promises";
import type { Reader } from "../client/reader.ts";
import type { Deployment } from "../contract/resources.ts";
import { rolloutState } from "../contract/rollout.ts";
import type { RolloutResult } from "../core/report.ts";

/** The deployment whose rollout is followed. */
export type Rollout = { readonly applicationId: string; readonly deploymentId: string };

/** How long, and who is told of each new status. */
export type Following = {
  readonly timeoutMs: number;
  readonly onStatus?: (status: string) => void;
  readonly signal: AbortSignal;
};

const FIRST_LOOK_MS = 100;
const SLOWEST_LOOK_MS = 2_000;

/** Follows a rollout through operation 10 until it ends, or the time is over. */
export async function followRollout(
  reader: Reader,
  { applicationId, deploymentId }: Rollout,
  { timeoutMs, onStatus, signal }: Following,
): Promise<Exclude<RolloutResult, null>> {
  const end = performance.now() + timeoutMs;
  let last = "";
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, SLOWEST_LOOK_MS)) {
    const deployment = await readDeployment(reader, applicationId, { deploymentId }, signal);
    const status = deployment?.currentStatus?.status ?? "";
    if (status !== last && status !== "") onStatus?.(status);
    last = status;
    const state = rolloutState(deployment?.currentStatus);
    if (state !== "progressing") return state;
    if (performance.now() + pause > end) return "timeout";
    await wait(pause, undefined, { signal });
  }
}

/** The deployment that an application is still rolling out; undefined when its newest one has ended. */
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
