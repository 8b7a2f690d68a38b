import { type Fault, silence } from "../support/fault-proxy.ts";
import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import { type ServerProcess, serveProcess } from "../support/server.ts";
import { lay, startWorld, wantedOf } from "./commits.ts";
import type { ControlPlaneSort } from "./control-planes.ts";
import { faultKinds } from "./fault-kinds.ts";
import { collect, type Findings, inParallel, nothingFound, record, type SweepResult } from "./sweep.ts";
import { applying, endTrial, type Judged, notAtRest, runJudged, settle, type Trial } from "./trial.ts";

const commitsPerWorld = 4;
const stepsPerCommit = 3;

/** Lets commits, kills, faults and restarts of the control plane follow each other at random. */
export async function sweepRandomSteps(
  sort: ControlPlaneSort,
  { commits, seed, width }: { readonly commits: number; readonly seed: number; readonly width: number },
): Promise<SweepResult> {
  const seeds = Array.from({ length: Math.ceil(commits / commitsPerWorld) }, (_, nth) => seed + nth);
  const perWorld = Math.min(commits, commitsPerWorld);
  const findings = await inParallel(width, seeds, (one) => tryWorld(sort, one, perWorld));
  const counts = { killPoints: 0, faults: 0, randomSteps: seeds.length * perWorld * stepsPerCommit };
  const whole = { sweep: "random steps", on: sort.name, seed, ...counts, ...collect(findings) } as const;
  record(whole);
  return whole;
}

async function tryWorld(sort: ControlPlaneSort, seed: number, commits: number): Promise<Findings> {
  const random = randomFrom(seed);
  let trial = await startWorld(sort);
  const found: Findings[] = [];
  for (let nth = 1; nth <= commits; nth += 1) {
    await lay(trial, nth);
    trial = { ...trial, before: trial.behind.server.effects().length };
    const runs: Judged[] = [];
    const names: string[] = [];
    for (let step = 0; step < stepsPerCommit; step += 1) {
      const { name, take } = pick(steps, random);
      names.push(name);
      const after = await take(trial, random);
      trial = after.trial;
      runs.push(...after.runs);
    }
    const what = `seed ${seed}, commit ${nth}: ${names.join(", ")}`;
    found.push(await settle({ ...trial, what }, { wanted: wantedOf(sort, nth), runs, rests: false }));
  }
  const rest = notAtRest(await runJudged({ ...trial, before: trial.behind.server.effects().length }));
  await endTrial(trial);
  return collect([...found, { ...nothingFound, wronglyReported: rest.map((line) => `seed ${seed}: ${line}`) }]);
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new TypeError("there is nothing to pick from");
  return item;
}

/** What happens during one apply: the trial after it, and the run where it came to its end. */
type Step = {
  readonly name: string;
  readonly take: (
    trial: Trial,
    random: () => number,
  ) => Promise<{ readonly trial: Trial; readonly runs: readonly Judged[] }>;
};

const steps: readonly Step[] = [
  { name: "a kill", take: killed },
  { name: "a fault", take: faulty },
  { name: "a restart of the control plane", take: restarted },
];

const point = (random: () => number): number => Math.floor(random() * 40);

async function killed(trial: Trial, random: () => number) {
  const apply = Promise.withResolvers<Running>();
  const isAfter = random() < 0.5;
  const kill: Fault = async ({ forward, reply }) => {
    if (isAfter) await forward();
    (await apply.promise).kill("SIGKILL");
    reply.destroy();
  };
  const { stop } = trial.behind.proxy.inject(/./, kill, { skip: point(random), times: 1 });
  apply.resolve(trial.source.start(applying));
  const ended = await (await apply.promise).ended;
  stop();
  // The apply may have been done, and have reported, before that request.
  return { trial, runs: ended.signal === null ? [{ ended, effects: [] }] : [] };
}

async function faulty(trial: Trial, random: () => number) {
  // A list that lies is met in its own sweep, where it lies once for one commit.
  const kinds = Object.entries(faultKinds).filter(([kind]) => !kind.startsWith("a list"));
  const [, fault = silence] = pick(kinds, random);
  const { stop } = trial.behind.proxy.inject(/./, fault, { skip: point(random), times: 1 + Math.floor(random() * 3) });
  const run = await runJudged(trial, [...applying, "--timeout", "20"]);
  stop();
  return { trial, runs: [run] };
}

async function restarted(trial: Trial, random: () => number) {
  const { proxy, server } = trial.behind;
  const again = Promise.withResolvers<ServerProcess>();
  const restart: Fault = ({ reply }) => {
    reply.destroy();
    again.resolve(startAgain(server, trial.sort));
  };
  const { hits, stop } = proxy.inject(/./, restart, { skip: point(random), times: 1 });
  const ended = await trial.source.runHere(applying);
  stop();
  // The apply may have been done before that request.
  const behind = { proxy, server: hits() === 0 ? server : await again.promise };
  return { trial: { ...trial, behind }, runs: [{ ended, effects: [] }] };
}

async function startAgain({ url, data, process }: ServerProcess, { name }: ControlPlaneSort): Promise<ServerProcess> {
  process.kill("SIGKILL");
  await process.ended;
  const flags = ["--port", new URL(url).port, ...(name === "documented-only" ? ["--documented-only"] : [])];
  return serveProcess(flags, { data });
}
