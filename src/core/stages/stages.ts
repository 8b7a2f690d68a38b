import { globMatcher } from "../../model/glob.ts";

/** A target as the configuration orders it. */
export type OrderedTarget = {
  readonly name: string;
  /** Patterns for the names of the targets before it; empty if it follows none. */
  readonly after: readonly string[];
  /** The name that the configuration gives its stage; null if it gives none. */
  readonly stage: string | null;
  /** What its commits are from: a repository and its ref, or the local folder. */
  readonly follows: string;
};

/** The targets with one `after`. */
export type Stage = {
  readonly name: string;
  readonly after: readonly string[];
  readonly targets: readonly string[];
  /** The targets that `after` matches. */
  readonly earlier: readonly string[];
  /** The retired targets that `after` matches. */
  readonly retired: readonly string[];
  /** The patterns of `after` that match no target. */
  readonly unmatched: readonly string[];
};

/** Why the order of a target is refused, and what to do. */
export type OrderFault = { readonly target: string; readonly why: string; readonly hint: string };

/** The stages of the targets, in the order in which commits reach them. */
export function stagesOf(targets: readonly OrderedTarget[], retired: readonly string[] = []): readonly Stage[] {
  const names = targets.map(({ name }) => name);
  const groups = Map.groupBy(targets, ({ after }) => JSON.stringify(after.toSorted()));
  const stages = [...groups.values()].map((members): Stage => {
    const after = members[0]?.after ?? [];
    const matches = after.map((pattern) => ({ pattern, names: namesMatching(pattern, names) }));
    return {
      name: members.find(({ stage }) => stage !== null)?.stage ?? defaultName(after),
      after,
      targets: members.map(({ name }) => name),
      earlier: [...new Set(matches.flatMap((match) => match.names))],
      retired: [...new Set(after.flatMap((pattern) => namesMatching(pattern, retired)))],
      unmatched: matches.flatMap((match) => (match.names.length === 0 ? [match.pattern] : [])),
    };
  });
  return inOrder(stages);
}

function namesMatching(pattern: string, names: readonly string[]): readonly string[] {
  return names.filter(globMatcher(pattern));
}

function defaultName(after: readonly string[]): string {
  return after.length === 0 ? "first" : `after-${after.join("-")}`;
}

// A stage of a cycle comes last.
function inOrder(stages: readonly Stage[]): readonly Stage[] {
  const done = new Set<string>();
  const ordered: Stage[] = [];
  let left = stages;
  while (left.length > 0) {
    const ready = left.filter(({ earlier }) => earlier.every((name) => done.has(name)));
    if (ready.length === 0) return [...ordered, ...left];
    ordered.push(...ready);
    for (const { targets } of ready) for (const name of targets) done.add(name);
    left = left.filter((stage) => !ready.includes(stage));
  }
  return ordered;
}

/**
 * Why the order of the targets is refused; null if it is not. Where targets come and go, a pattern may match none: then
 * its order is not met.
 */
export function orderFault(
  targets: readonly OrderedTarget[],
  { mayMatchNone }: { readonly mayMatchNone: boolean },
): OrderFault | null {
  const stages = stagesOf(targets);
  return (
    stages.map((stage) => faultOf(stage, mayMatchNone)).find((fault) => fault !== null) ??
    sourceFault(targets, stages) ??
    nameFault(targets, stages) ??
    cycleFault(stages)
  );
}

function faultOf({ targets, earlier, unmatched }: Stage, mayMatchNone: boolean): OrderFault | null {
  const [pattern] = unmatched;
  if (pattern !== undefined && !mayMatchNone) {
    const [target = ""] = targets;
    const why = `\`after\` of target ${target} has ${pattern}, which matches no target`;
    return { target, why, hint: "correct it" };
  }
  const own = targets.find((name) => earlier.includes(name));
  if (own === undefined) return null;
  const why =
    targets.length === 1
      ? `\`after\` of target ${own} matches the target itself`
      : `\`after\` of target ${own} matches targets of its own stage: ${own}`;
  return { target: own, why, hint: "name only targets that come before it" };
}

// A commit of one repository is never applied from another one, so the order would never be met.
function sourceFault(targets: readonly OrderedTarget[], stages: readonly Stage[]): OrderFault | null {
  const followed = new Map(targets.map(({ name, follows }) => [name, follows]));
  for (const { targets: members, earlier } of stages) {
    for (const target of members) {
      const other = earlier.find((name) => followed.get(name) !== followed.get(target));
      if (other === undefined) continue;
      const why = `target ${target} comes after ${other}, which follows ${followed.get(other)} and not ${followed.get(target)}`;
      return { target, why, hint: "let both follow one ref of one repository, or correct `after`" };
    }
  }
  return null;
}

function nameFault(targets: readonly OrderedTarget[], stages: readonly Stage[]): OrderFault | null {
  const stageOf = (name: string): Stage | undefined => stages.find((stage) => stage.targets.includes(name));
  const other = targets.find(({ name, stage }) => stage !== null && stageOf(name)?.name !== stage);
  if (other !== undefined) {
    return {
      target: other.name,
      why: `the targets with the \`after\` of target ${other.name} have two stage names: ${stageOf(other.name)?.name} and ${other.stage}`,
      hint: "give them one",
    };
  }
  const names = stages.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return null;
  const [target = ""] = stages.findLast(({ name }) => name === twice)?.targets ?? [];
  return { target, why: `two stages are called ${twice}`, hint: "rename one of them with `stage`" };
}

function cycleFault(stages: readonly Stage[]): OrderFault | null {
  const seen = new Set<string>();
  for (const { targets, earlier } of stages) {
    const later = earlier.filter((name) => !seen.has(name));
    if (later.length > 0) {
      const [target = ""] = targets;
      return {
        target,
        why: `\`after\` makes a cycle: ${target} comes after ${later[0]}, which comes after it`,
        hint: "break it",
      };
    }
    for (const name of targets) seen.add(name);
  }
  return null;
}
