import { onTestFinished } from "vitest";
import type { Clock } from "../../../src/clock/clock.ts";
import { systemClock, systemRandom } from "../../../src/clock/system.ts";
import type { CommitSummary, StageStatus } from "../../../src/contract/generated/output.ts";
import { Secret } from "../../../src/contract/secret.ts";
import { HoldfastError } from "../../../src/core/errors.ts";
import { decisionsAt, type Hold, holdText, withHold } from "../../../src/core/holds.ts";
import type { ResourceStatus, TargetStatus } from "../../../src/core/report/target-status.ts";
import type { DashboardTarget, TargetReferences } from "../../../src/daemon/api/dashboard-source.ts";
import { type DaemonServer, startDaemonServer } from "../../../src/daemon/http/daemon-server.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { createLog } from "../../../src/log/log.ts";
import { stateAt } from "../../../src/state/open-state.ts";
import type { ResourcesSeen } from "../../../src/state/resource-events.ts";
import { temporaryFolder } from "../../support/folder.ts";

/** What is stored of a target. */
export type StoredTarget = {
  readonly status: TargetStatus;
  readonly holds?: readonly Hold[];
  readonly resources?: readonly ResourceStatus[];
  /** What the last pass has changed of them. */
  readonly changed?: ResourcesSeen["changed"];
};

/** A target with a state of its own. */
export type ShownTarget = DashboardTarget & { readonly keep: (stored: StoredTarget) => Promise<void> };

/** What refers to what, as a list of what each resource refers to. */
export function referencesOf(list: { readonly [identity: string]: readonly string[] }): TargetReferences {
  const entries = Object.entries(list);
  const referrers = new Map<string, string[]>();
  for (const [from, targets] of entries)
    for (const to of targets) referrers.set(to, [...(referrers.get(to) ?? []), from]);
  const known = new Map(entries);
  return {
    commit: "c0ffee",
    of: (identity) => known.get(identity) ?? null,
    to: (identity) => referrers.get(identity) ?? [],
  };
}

/** Makes a target whose state is in a folder, as a pass has left it. */
export async function storedTarget(
  first: StoredTarget,
  explain: DashboardTarget["explain"] = async ({ identity }) => {
    throw new HoldfastError("invalid", `${identity} is not declared`);
  },
  commits: readonly CommitSummary[] = [],
): Promise<ShownTarget> {
  const name = first.status.target;
  const state = stateAt(await temporaryFolder(), { clock: systemClock, random: systemRandom, readKey: () => null });
  onTestFinished(() => state[Symbol.asyncDispose]());
  const keep = async ({ status, holds = [], resources, changed }: StoredTarget): Promise<void> => {
    const store = await state.target();
    await store.decide((before) => holds.reduce(withHold, before));
    const { lastPass } = status;
    const at = lastPass?.endedAt ?? "2026-11-22T12:00:00.000Z";
    const seen =
      resources === undefined
        ? null
        : { at, commit: status.wantedRevision, isWhole: true, statuses: resources, ...(changed && { changed }) };
    await store.keep({ status, records: lastPass === null ? [] : [lastPass], resources: seen });
  };
  await keep(first);
  return {
    name,
    isNamed: true,
    keep,
    commits: async () => commits,
    explain,
    lastReferences: () => null,
    readReferences: async () => {
      throw new HoldfastError("error", "the source of https://ada:CANARY-password@example.com is away", {
        hint: "try again",
      });
    },
    status: async () => {
      const store = await state.target();
      const { holds } = decisionsAt(await store.decisions(), systemClock.now());
      return { ...((await store.status()) ?? newStatus(name, null)), held: holds.map(holdText) };
    },
    hasLease: () => true,
    read: async (read) => read(await state.target()),
    recorded: state.recorded,
  };
}

/** How targets are served. */
type ServedWith = {
  readonly port?: number;
  readonly stages?: readonly StageStatus[];
  /** @default none */
  readonly token?: string | null;
  /** @default "loopback" */
  readonly access?: "loopback" | "token";
  /** @default that of this machine */
  readonly clock?: Clock;
};

/** Serves targets as a daemon does; the port is the kernel's choice unless one is given. */
export async function serveTargets(
  targets: readonly DashboardTarget[],
  { port = 0, stages = [], token = null, access = "loopback", clock = systemClock }: ServedWith = {},
): Promise<DaemonServer> {
  const server = await startDaemonServer({
    host: "127.0.0.1",
    port,
    log: createLog({ level: "silent", format: "json", stream: { write: () => {} } }),
    clock,
    random: systemRandom,
    stopping: new AbortController().signal,
    hookOf: () => undefined,
    token: () => (token === null ? null : new Secret(token)),
    build: { version: "1.2.3", commit: null },
    targets: async () => [],
    gates: async () => ({}),
    dashboard: {
      targets: () => targets,
      stages: async () => stages,
      isShared: () => false,
      access: () => access,
      hosts: () => [],
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}
