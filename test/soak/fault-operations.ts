import { type OperationName, operations } from "../../src/contract/operations.ts";
import type { Asked } from "../support/fault-proxy.ts";
import { randomFrom } from "../support/random.ts";
import { lay, startWorld, wantedOf } from "./commits.ts";
import type { ControlPlaneSort } from "./control-planes.ts";
import { faultKinds } from "./fault-kinds.ts";
import { collect, type Findings, inParallel, nothingFound, record, type SweepResult, sample } from "./sweep.ts";
import { applying, endTrial, notAtRest, runJudged, settle, type Trial } from "./trial.ts";

/** An operation that the reconciler uses, dry runs apart from writes. */
type Target = { readonly operation: OperationName; readonly dryRun: boolean };

/** A kind of fault on an operation. */
type Case = Target & { readonly kind: string };

/** Puts faults on operations, and finds out whether each run says what happened and the next one puts it right. */
export async function sweepFaults(
  sort: ControlPlaneSort,
  { most, seed, width }: { readonly most: number; readonly seed: number; readonly width: number },
): Promise<SweepResult> {
  const random = randomFrom(seed);
  const targets = await targetsOf(sort);
  const cases = Object.keys(faultKinds).flatMap((kind) => targets.map((target) => ({ ...target, kind })));
  const drawn = sample(cases, most, random);
  const perWorld = 15;
  const worlds = Array.from({ length: Math.ceil(drawn.length / perWorld) }, (_, nth) =>
    drawn.slice(nth * perWorld, (nth + 1) * perWorld),
  );
  const findings = await inParallel(width, worlds, (some) => tryCases(sort, some));
  const counts = { killPoints: 0, faults: sum(findings.map(({ met }) => met)), randomSteps: 0 };
  const result = { sweep: "faults on every operation", on: sort.name, seed, ...counts } as const;
  const whole = { ...result, ...collect(findings) };
  record(whole);
  return whole;
}

/** Every operation that two commits use, one after the other. */
async function targetsOf(sort: ControlPlaneSort): Promise<readonly Target[]> {
  const trial = await startWorld(sort);
  await lay(trial, 1);
  await runJudged(trial);
  await endTrial(trial);
  const used = trial.behind.proxy.asked.map(targetOf).filter((one) => one !== null);
  return [...new Map(used.map((one) => [`${one.operation} ${one.dryRun}`, one])).values()];
}

function targetOf({ method, path, body }: Asked): Target | null {
  const names = Object.keys(operations) as OperationName[];
  const operation = names.find((name) => {
    const row = operations[name];
    const pattern = new RegExp(`^${row.path.replace(/\{\w+\}/g, "[^/?]+")}(?:\\?|$)`);
    return row.method === method && pattern.test(path);
  });
  return operation === undefined ? null : { operation, dryRun: body.includes('"dryRun":true') };
}

/** Tries some faults on one control plane, each with a commit of its own. */
async function tryCases(sort: ControlPlaneSort, cases: readonly Case[]): Promise<Findings & { readonly met: number }> {
  const world = await startWorld(sort);
  const found: (Findings & { readonly met: number })[] = [];
  for (const [index, one] of cases.entries()) found.push(await tryCase(world, one, index + 1));
  const trial = { ...world, before: world.behind.server.effects().length };
  const rest = notAtRest(await runJudged(trial)).map((line) => `${sort.name}, after ${cases.length} faults: ${line}`);
  await endTrial(world);
  const met = sum(found.map((one) => one.met));
  return { met, ...collect([...found, { ...nothingFound, wronglyReported: rest }]) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

// Twice in a row, so that a repeat meets the fault as well; a list that lies does so once.
const timesOf = (kind: string): number => (kind === "an empty list" || kind === "a list without its first row" ? 1 : 2);

async function tryCase(world: Trial, { operation, dryRun, kind }: Case, nth: number) {
  const what = `${kind}, on ${operation}${dryRun ? " (dryRun)" : ""}, commit ${nth}`;
  const trial = { ...world, what, before: world.behind.server.effects().length };
  await lay(trial, nth);
  const fault = faultKinds[kind];
  if (fault === undefined) throw new TypeError(`there is no fault ${kind}`);
  const { hits } = trial.behind.proxy.inject(operation, fault, { times: timesOf(kind), dryRun });
  const run = await runJudged(trial, [...applying, "--timeout", "20"]);
  // A repeat is sent for some, so that the same fault may be met twice: it counts as one.
  const met = Math.min(1, hits());
  // Without keys a proxy that delivers twice doubles what it delivers, whoever the client is.
  const mayDouble = !trial.sort.takesKeys && kind === "the request delivered twice";
  const wanted = wantedOf(trial.sort, nth);
  return { met, ...(await settle(trial, { wanted, runs: [run], rests: false, mayDouble })) };
}
