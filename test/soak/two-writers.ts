import { passOn } from "../support/fault-proxy.ts";
import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import { sourceOf } from "../support/source.ts";
import { lay, startWorld, wantedOf } from "./commits.ts";
import type { ControlPlaneSort } from "./control-planes.ts";
import { collect, type Findings, inParallel, record, type SweepResult } from "./sweep.ts";
import { applying, endTrial, type Judged, notAtRest, runJudged, settle, type Trial } from "./trial.ts";

const perWorld = 5;

/** Lets two state folders apply the same commits at once, and finds out whether that is seen or does no harm. */
export async function sweepTwoWriters(
  sort: ControlPlaneSort,
  { rounds, seed, width }: { readonly rounds: number; readonly seed: number; readonly width: number },
): Promise<SweepResult> {
  const random = randomFrom(seed);
  // After how many requests of the first the second one starts.
  const delays = Array.from({ length: rounds }, () => Math.floor(random() * 25));
  const worlds = Array.from({ length: Math.ceil(rounds / perWorld) }, (_, nth) =>
    delays.slice(nth * perWorld, (nth + 1) * perWorld),
  );
  const findings = await inParallel(width, worlds, (some) => tryRounds(sort, some));
  const counts = { killPoints: 0, faults: 0, randomSteps: rounds };
  const whole = { sweep: "two writers", on: sort.name, seed, ...counts, ...collect(findings) } as const;
  record(whole);
  return whole;
}

async function tryRounds(sort: ControlPlaneSort, delays: readonly number[]): Promise<Findings> {
  const world = await startWorld(sort);
  const other = await sourceOf({}, world.behind.proxy.server);
  await lay({ source: other, sort }, 0);
  await other.runHere(applying);
  const found: Findings[] = [];
  for (const [index, delay] of delays.entries()) {
    const trial = { ...world, others: [other], what: `round ${index + 1}, after ${delay} requests` };
    found.push(await tryRound(trial, index + 1, delay));
  }
  await endTrial(world);
  return collect(found);
}

async function tryRound(world: Trial, nth: number, delay: number): Promise<Findings> {
  const trial = { ...world, before: world.behind.server.effects().length };
  const { source, others: [other = source] = [], behind } = trial;
  await lay(trial, nth);
  await lay({ ...trial, source: other }, nth);
  const second = Promise.withResolvers<Running>();
  const { hit } = behind.proxy.inject(/./, passOn, { skip: delay, times: 1 });
  const first = source.start(applying);
  // The first one may be done before.
  void Promise.race([hit, first.ended]).then(() => second.resolve(other.start(applying)));
  const ended = await Promise.all([first.ended, second.promise.then((running) => running.ended)]);
  // What the one made is not told by the other: only what each says to have made itself is looked at.
  const runs = ended.map((one): Judged => ({ ended: one, effects: [] }));
  const mayDouble = trial.sort.name !== "full";
  const findings = await settle(trial, { wanted: wantedOf(trial.sort, nth), runs, rests: false, mayDouble });
  // It has what the other one made to learn of first.
  await other.runHere(applying);
  const rest = notAtRest(await runJudged({ ...trial, source: other }));
  const told = rest.map((line) => `${trial.sort.name}, ${trial.what}, second writer: ${line}`);
  return { ...findings, wronglyReported: [...findings.wronglyReported, ...told] };
}
