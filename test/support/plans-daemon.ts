import { onTestFinished } from "vitest";
import type { Clock } from "../../src/clock/clock.ts";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import type { PlanToSend } from "../../src/contract/generated/output.ts";
import { isObject, type Json } from "../../src/contract/json.ts";
import { Secret } from "../../src/contract/secret.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import { planDigest } from "../../src/core/plan/sign-plan.ts";
import { nothingShown } from "../../src/daemon/api/dashboard-source.ts";
import { type DaemonServer, startDaemonServer } from "../../src/daemon/http/daemon-server.ts";
import { keyedDigest } from "../../src/engine/signed-inputs.ts";
import { createLog } from "../../src/log/log.ts";
import { generateKey, type SealKey } from "../../src/seal/seal-key.ts";
import { stateAt } from "../../src/state/open-state.ts";
import { temporaryFolder } from "./folder.ts";

/** The token for plans, and the head of the pull request that they are of. */
export const plansFacts = { token: "CANARY-plans", page: "CANARY-page", commit: "a".repeat(40) } as const;

/** A daemon that takes plans. */
export type PlansDaemon = DaemonServer & {
  /** The key of the state of its target. */
  readonly key: SealKey;
  readonly post: (body: unknown, headers?: { readonly [name: string]: string }) => Promise<Response>;
  /** Starts it again with the same state. */
  readonly again: () => Promise<PlansDaemon>;
};

/** The HTTP server of a daemon that takes plans; `takes` says whether it has a token for them. */
export async function plansDaemon({
  clock = systemClock,
  hasPageToken = false,
  takes = () => true,
  folder,
  key = generateKey(),
}: {
  readonly clock?: Clock;
  readonly hasPageToken?: boolean;
  readonly takes?: () => boolean;
  readonly folder?: string;
  readonly key?: SealKey;
} = {}): Promise<PlansDaemon> {
  const place = folder ?? (await temporaryFolder());
  const state = stateAt(place, { clock, random: systemRandom, readKey: () => null });
  onTestFinished(() => state[Symbol.asyncDispose]());
  const server = await startDaemonServer({
    host: "127.0.0.1",
    port: 0,
    log: createLog({ level: "silent", format: "json", stream: { write: () => {} } }),
    clock,
    random: systemRandom,
    stopping: new AbortController().signal,
    hookOf: () => undefined,
    token: () => (hasPageToken ? new Secret(plansFacts.page) : null),
    build: { version: "1.2.3", commit: null },
    targets: async () => [],
    gates: async () => ({}),
    dashboard: {
      ...nothingShown,
      plans: () => ({
        token: () => (takes() ? new Secret(plansFacts.token) : null),
        exists: state.exists,
        stored: async (use) => use(await state.target()),
        keys: async () => [generateKey(), key],
      }),
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return {
    ...server,
    key,
    post: (body, headers = {}) =>
      fetch(`${server.url}/api/v1/plans`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${plansFacts.token}`, ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    again: async () => {
      await server[Symbol.asyncDispose]();
      return plansDaemon({ clock, hasPageToken, takes, folder: place, key });
    },
  };
}

/** A plan with its signature. */
export function signedWith(key: SealKey, plan: Plan): Json {
  const shown = JSON.parse(JSON.stringify(plan)) as Json;
  if (!isObject(shown)) throw new TypeError("a plan is an object");
  const seal = { key: key.version, configuration: "", source: {}, secrets: {}, live: {}, kept: [] };
  const content = planDigest({ ...shown, seal });
  return { ...shown, seal: { ...seal, content, signature: keyedDigest(key)(content) } };
}

/** What is sent of a plan. */
export function planToSend(plan: unknown, more: Partial<PlanToSend> = {}): PlanToSend {
  return {
    ...{ forge: "github", repository: "ml/platform", pullRequest: 7, url: "https://github.com/ml/platform/pull/7" },
    ...{ commit: plansFacts.commit, name: "default", unverified: false, plan: plan as PlanToSend["plan"] },
    ...more,
  };
}
