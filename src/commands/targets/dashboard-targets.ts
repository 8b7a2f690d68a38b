import type { Stop } from "../../clock/clock.ts";
import type { CommitSummary } from "../../contract/generated/output.ts";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import type { DashboardSource, DashboardTarget, SignInSettings } from "../../daemon/api/dashboard-source.ts";
import { neverRunStatus } from "../../daemon/status-after-pass.ts";
import { parseKey, type SealKey } from "../../seal/seal-key.ts";
import { commitSummaries } from "../../source/git/commit-summaries.ts";
import { locateRepository } from "../../source/git/repository-paths.ts";
import { realRoot } from "../../source/source-root.ts";
import { existingKey } from "../../state/open-state.ts";
import type { CommandTarget } from "./create-target.ts";
import type { ResourceExplainer } from "./explain-resource.ts";
import type { FoundTargets } from "./find-targets.ts";
import type { ReferenceReader } from "./read-references.ts";
import { retiredTargetUnread } from "./retired-target.ts";
import { stagesIn } from "./stage-targets.ts";
import { storedGates } from "./stored-gates.ts";
import { storedStatus } from "./stored-status.ts";

type CarryOut = NonNullable<DashboardTarget["carryOut"]>;

/** How the states of targets are read. */
export type StateReading = {
  /** What a daemon says of a target; null where none watches it. */
  readonly said: (target: string) => Promise<TargetStatus | null>;
  /** Carries out what a person asks for; null where no daemon of this process watches the target. */
  readonly carryOut: (target: string) => CarryOut | null;
  /** Whether a daemon of this process has the lease of a target. */
  readonly hasLease: (target: string) => boolean;
  /** Reads from the state; null while its database does not answer. */
  readonly reading: <Read>(read: () => Promise<Read>) => Promise<Read | null>;
  readonly explain: ResourceExplainer;
  readonly references: ReferenceReader;
  readonly stopping: AbortSignal;
  readonly now: () => number;
  /** The token that permits to send plans; null if there is none. @default none */
  readonly plansToken?: () => Secret | null;
  /** Where people sign in; null where they do not. @default null */
  readonly signIn?: SignInSettings | null;
};

/** The targets of a configuration as the dashboard reads them: a target that no daemon watches, from its state. */
export function dashboardSource(
  opened: FoundTargets,
  {
    said,
    carryOut,
    hasLease,
    reading,
    explain,
    references,
    stopping,
    now,
    plansToken = () => null,
    signIn = null,
  }: StateReading,
): DashboardSource {
  const { targets, operator, database, state } = opened;
  const signInHost = signIn === null ? [] : [new URL(signIn.url).hostname];
  const hosts = [...(operator.dashboard?.hosts ?? []), ...signInHost];
  const shown = targets.map((target): DashboardTarget => {
    const stored = (): Promise<TargetStatus> =>
      reading(() => storedStatus(target, now())).then((status) => status ?? unreadStatus(target));
    const carriesOut = confirming(target, carryOut(target.name));
    return {
      name: target.name,
      isNamed: target.choice !== null,
      ...(carriesOut !== null && { carryOut: carriesOut }),
      status: async () => ({
        ...((await said(target.name)) ?? (await stored())),
        ...((await reading(() => storedGates(target))) ?? {}),
      }),
      hasLease: () => hasLease(target.name),
      read: (read) => reading(async () => read(await target.state.target())),
      recorded: () => reading(target.state.recorded),
      lastReferences: () => references.last(target),
      readReferences: (version) => references.read(target, version),
      explain: (asked) => explain(target, asked),
      commits: (ids) => commitsOf(target, ids, { signal: stopping }),
    };
  });
  return {
    targets: () => shown,
    stages: async (statuses) => (await reading(() => stagesIn(opened, statuses, now()))) ?? [],
    isShared: () => database !== null,
    access: () => operator.dashboard?.access ?? "loopback",
    signIn: () => signIn,
    hosts: () => hosts,
    plans: () => ({
      token: plansToken,
      exists: () => reading(state.exists),
      stored: (use) => reading(async () => use(await state.target())),
      keys: () => keysOf(targets),
    }),
  };
}

// A target whose state was never used has no key, and none that cannot be read makes the others useless.
async function keysOf(targets: readonly CommandTarget[]): Promise<readonly SealKey[]> {
  const keys = await Promise.all(
    targets.map(async ({ state: { folder, readKey } }) => {
      const text = readKey();
      return text === null ? existingKey(folder, null).catch(() => null) : parseKey(text);
    }),
  );
  return keys.filter((key) => key !== null);
}

async function commitsOf(
  { remote, source }: CommandTarget,
  ids: readonly string[],
  stop: Stop,
): Promise<readonly CommitSummary[]> {
  const repository = remote?.repository ?? locateRepository(realRoot(source.root));
  return repository === null ? [] : commitSummaries(repository, ids, stop);
}

// Nobody types the name of such a target on the page.
function confirming({ name, choice }: CommandTarget, carryOut: CarryOut | null): CarryOut | null {
  if (carryOut === null || !choice?.confirm) return carryOut;
  return async (command) => {
    if (command.is !== "redeploy") return carryOut(command);
    throw new HoldfastError("refused", `target ${name} requires its name as confirmation: use holdfast redeploy`);
  };
}

function unreadStatus(target: CommandTarget): TargetStatus {
  if (target.choice?.isRetired) return retiredTargetUnread(target);
  const message = "its database does not answer";
  return { ...neverRunStatus(target.name, target.remote?.name ?? null), reason: "StateUnreadable", message };
}
