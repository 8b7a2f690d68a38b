import { hash } from "node:crypto";
import { canonical } from "../../contract/json.ts";
import { type Stage, stagesOf } from "../../core/stages/stages.ts";
import type { TargetProgress } from "../../core/stages/target-progress.ts";
import { examineCommit } from "../../engine/order/commit-health.ts";
import type { Examination } from "../../engine/order/earlier-targets.ts";
import { type CommitOrder, createOrder, type OrderPlaces } from "../../engine/order/target-order.ts";
import type { Target } from "../../engine/target.ts";
import type { TargetState } from "../../state/state.ts";
import type { Terminal } from "../terminal.ts";
import { orderedTargets } from "./check-order.ts";
import type { TargetChoice } from "./choose-targets.ts";

/** The order of the targets of a configuration. */
export type StageOrders = {
  readonly stages: readonly Stage[];
  /** Null for a target that has no place in it, since it is retired. */
  readonly of: (choice: TargetChoice, owner: OwnOrder) => CommitOrder | null;
  /** Calls a listener with the targets that may be able to apply what they waited for. */
  readonly follow: (listener: (targets: readonly string[]) => void) => void;
};

/** What the order of a target takes from how the target is used. */
export type OwnOrder = {
  readonly state: TargetState;
  readonly isWatched: boolean;
  readonly isAllowed: boolean;
  readonly intervalMs: number;
};

/** Seconds between the passes of a daemon where nothing else is chosen. */
export const DEFAULT_INTERVAL_S = 60;

/** The least time between two observations that counts, for intervals shorter than a pass may take. */
const MIN_GAP_MS = 10_000;

/** Creates the orders of all targets of a configuration; `reader` creates a target only to be read. */
export function stageOrders(
  choices: readonly TargetChoice[],
  reader: (choice: TargetChoice) => Target,
  { clock, stopping }: Pick<Terminal, "clock" | "stopping">,
): StageOrders {
  const [retired, active] = [
    choices.filter(({ isRetired }) => isRetired),
    choices.filter(({ isRetired }) => !isRetired),
  ];
  const stages = stagesOf(
    orderedTargets(active),
    retired.map(({ name }) => name),
  );
  const byName = new Map(choices.map((choice) => [choice.name, choice]));
  const readers = new Map<string, Target>();
  const other = (name: string): Target => {
    const choice = byName.get(name);
    if (choice === undefined) throw new TypeError(`no target ${name}`);
    const target = readers.get(name) ?? reader(choice);
    readers.set(name, target);
    return target;
  };
  const examine: Examination = (name, commit, run) => examineCommit(other(name), commit, run);
  const examineOnce = sharedExamination((name, commit) => examine(name, commit, { clock, stopping }));
  let onAdvanced: (targets: readonly string[]) => void = () => undefined;
  const turns = new Map<string, Promise<unknown>>();
  const placesOf = ({ name }: TargetChoice, stage: Stage): OrderPlaces => ({
    stage,
    maxUpdate: maxUpdateOf(stage, byName),
    isFollowed: stages.some(({ earlier }) => earlier.includes(name)),
    other,
    examine,
    examineOnce,
    inTurn: (work) => {
      const turn = (turns.get(stage.name) ?? Promise.resolve()).then(work, work);
      turns.set(stage.name, turn);
      return turn;
    },
    onObserved: (before, after) => {
      const woken = wokenBy({ name, before, after }, { stages, stage, byName });
      if (woken.length > 0) onAdvanced(woken);
    },
  });
  return {
    stages,
    of: (choice, { intervalMs, ...own }) => {
      const stage = stages.find(({ targets }) => targets.includes(choice.name));
      if (stage === undefined) return null;
      const { name, order: rule } = choice;
      const configuration = configurationOf(choice);
      const maxGapMs = Math.max(2 * intervalMs, MIN_GAP_MS);
      return createOrder({ ...own, name, rule, configuration, maxGapMs }, placesOf(choice, stage), clock);
    },
    follow: (listener) => {
      onAdvanced = listener;
    },
  };
}

function configurationOf({ paths, rename, patches }: TargetChoice): string {
  const { clusters = {}, workspaces = {} } = rename ?? {};
  return hash("sha256", canonical({ paths, clusters, workspaces, patches: patches.own }));
}

/** Joins those who ask for the same while it is read; what has been read is never given out again. */
export function sharedExamination(examine: (name: string, commit: string) => ReturnType<Examination>): Examination {
  const reading = new Map<string, ReturnType<Examination>>();
  return (name, commit) => {
    const key = `${name} ${commit}`;
    const joined = reading.get(key) ?? examine(name, commit).finally(() => reading.delete(key));
    reading.set(key, joined);
    return joined;
  };
}

function maxUpdateOf({ targets }: Stage, byName: ReadonlyMap<string, TargetChoice>): number | null {
  const limits = targets.flatMap((name) => byName.get(name)?.order.maxUpdate ?? []);
  return limits.length === 0 ? null : Math.min(...limits);
}

type Observed = { readonly name: string; readonly before: TargetProgress; readonly after: TargetProgress };

type Around = {
  readonly stages: readonly Stage[];
  readonly stage: Stage;
  readonly byName: ReadonlyMap<string, TargetChoice>;
};

/** The targets that wait for a change of what was observed, such as the end of a soak or a place that is free again. */
function wokenBy({ name, before, after }: Observed, { stages, stage, byName }: Around): readonly string[] {
  const [old, now] = [before.commits.at(-1), after.commits.at(-1)];
  const isOther =
    old?.commit !== now?.commit ||
    old?.isApplied !== now?.isApplied ||
    old?.failure !== now?.failure ||
    old?.health !== now?.health;
  const isSoaked = (soakMs: number): boolean =>
    soakMs > 0 && (old?.healthyMs ?? 0) < soakMs && (now?.healthyMs ?? 0) >= soakMs;
  const later = stages.flatMap(({ earlier, targets }) => (earlier.includes(name) ? targets : []));
  const woken = later.filter((one) => isOther || isSoaked(byName.get(one)?.order.soakMs ?? 0));
  const isFreed = before.begun !== null && after.begun === null;
  return isFreed ? [...woken, ...stage.targets.filter((one) => one !== name)] : woken;
}
