import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Sizes } from "./sizes.ts";

/** What a sweep found wrong, in one line each. */
export type Findings = {
  /** Writes that took effect more often than they were wanted. */
  readonly doubled: readonly string[];
  /** Resources and tokens that are gone, and were not reported to be. */
  readonly lost: readonly string[];
  /** Reports, exit codes and messages that say something else than what happened. */
  readonly wronglyReported: readonly string[];
};

/** What one sweep did and found: one row of the published table. */
export type SweepResult = Findings & {
  readonly sweep: SweepName;
  readonly on: string;
  /** Null where nothing is drawn. */
  readonly seed: number | null;
  readonly killPoints: number;
  readonly faults: number;
  readonly randomSteps: number;
};

/** Every sweep, with what it does. */
export const sweeps = {
  "first start and upgrades":
    "SIGKILL or a full disk at a system call on the databases, also while an earlier schema is upgraded; then the same command again",
  "first start, small files":
    "SIGKILL or a full disk at a system call that creates a file; then the same command again",
  "kill points of an apply":
    "SIGKILL at a request, between its effect and its reply, after the reply, or before a statement on the ledger; then the same command again",
  "faults on every operation":
    "one of the faults below on an operation of a commit that creates and updates; then the same command without the fault",
  "two writers": "two processes with state folders of their own apply the same commit to one control plane at once",
  "stopped leaders": "SIGSTOP at a write until another writer has taken over the lease, then SIGCONT",
  "killed daemons":
    "of two daemons that follow a repository, the leader gets SIGKILL, SIGTERM, or SIGSTOP and SIGCONT at a random request",
  "random steps": "commits, kills, faults and restarts of the control plane, in random order",
} as const;

/** The name of a sweep. */
export type SweepName = keyof typeof sweeps;

/** No findings yet. */
export const nothingFound: Findings = { doubled: [], lost: [], wronglyReported: [] };

/** All findings of many trials. */
export function collect(findings: readonly Findings[]): Findings {
  return {
    doubled: findings.flatMap(({ doubled }) => doubled),
    lost: findings.flatMap(({ lost }) => lost),
    wronglyReported: findings.flatMap(({ wronglyReported }) => wronglyReported),
  };
}

/** Prints what a sweep did, and keeps it for the published page where the run is one that is published. */
export function record(result: SweepResult): void {
  const { sweep, on, seed, killPoints, faults, randomSteps, doubled, lost, wronglyReported } = result;
  const counts = `${killPoints} kill points, ${faults} faults, ${randomSteps} random steps`;
  const found = `doubled ${doubled.length}, lost ${lost.length}, wrongly reported ${wronglyReported.length}`;
  process.stdout.write(`${sweep}, ${on}${seed === null ? "" : `, seed ${seed}`}: ${counts}: ${found}\n`);
  const file = process.env.SOAK_RESULTS;
  if (file === undefined) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}

/** The seed of this run: that of the environment, or a new one. */
export function seedOf(environment: { readonly SEED?: string | undefined } = process.env): number {
  const given = Number(environment.SEED ?? Number.NaN);
  return Number.isSafeInteger(given) && given >= 0 ? given : Math.floor(Math.random() * 2 ** 31);
}

/** Some of the items, drawn at random; all of them, in order, where there are no more than that. */
export function sample<Item>(items: readonly Item[], size: number, random: () => number): readonly Item[] {
  if (items.length <= size) return items;
  const drawn = items.map((item, index) => ({ item, index, rank: random() }));
  const first = drawn.toSorted((one, other) => one.rank - other.rank).slice(0, size);
  return first.toSorted((one, other) => one.index - other.index).map(({ item }) => item);
}

/** How many points there are from the first on, some passed over as the size of the run says: each is tried until one is not there. */
export function countPoints(exists: (nth: number) => boolean, { everyCall }: Pick<Sizes, "everyCall">): number {
  let count = 0;
  for (let nth = 1; exists(nth); nth += everyCall) count += 1;
  return count;
}

/** Does something with every item, with a few of them at a time. */
export async function inParallel<Item, Made>(
  width: number,
  items: readonly Item[],
  make: (item: Item) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  const left = items.values();
  const work = async (): Promise<void> => {
    for (const item of left) made.push(await make(item));
  };
  await Promise.all(Array.from({ length: width }, work));
  return made;
}
