import type { Asked, Fault } from "../support/fault-proxy.ts";
import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import { sourceOf } from "../support/source.ts";
import { controlPlane } from "./control-planes.ts";
import { collect, type Findings, inParallel, record, type SweepResult, sample } from "./sweep.ts";
import {
  applying,
  endTrial,
  type Judged,
  notAtRest,
  runJudged,
  settle,
  startTrial,
  trialFiles,
  wantedOn,
  wrongIn,
} from "./trial.ts";

const sort = controlPlane("full");

/** A write of the leader, before or after its effect. */
type StopPoint = { readonly place: "request" | "effect"; readonly nth: number };

/** Every write that is no dry run; the lease is taken and renewed before them. */
const isWrite = ({ method, body, path }: Asked): boolean =>
  method !== "GET" && !body.includes('"dryRun":true') && !path.includes("/leases/");

/** Stops a leader at its writes until another writer has its lease, and finds out whether anything is written twice. */
export async function sweepStoppedLeaders({
  most,
  seed,
  width,
}: {
  readonly most: number;
  readonly seed: number;
  readonly width: number;
}): Promise<SweepResult> {
  const writes = wantedOn(sort).length;
  const all = (["request", "effect"] as const).flatMap((place) =>
    Array.from({ length: writes }, (_, index): StopPoint => ({ place, nth: index + 1 })),
  );
  const findings = await inParallel(width, sample(all, most, randomFrom(seed)), tryStop);
  const counts = { killPoints: 0, faults: findings.length, randomSteps: 0 };
  const whole = { sweep: "stopped leaders", on: sort.name, seed, ...counts, ...collect(findings) } as const;
  record(whole);
  return whole;
}

async function tryStop({ place, nth }: StopPoint): Promise<Findings> {
  const { source, behind, ...rest } = await startTrial(`stopped at ${place} ${nth}`, sort);
  const other = await sourceOf(trialFiles, behind.proxy.server);
  const trial = { source, behind, ...rest, others: [other] };
  const leading = Promise.withResolvers<Running>();
  const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
  const { promise: stopped, resolve: tell } = Promise.withResolvers<void>();
  const stop: Fault = async ({ reply, forward }) => {
    const answered = place === "effect" ? await forward() : null;
    (await leading.promise).kill("SIGSTOP");
    tell();
    await awake;
    // Sent before the stop, and under way for as long as it lasted.
    const { status, headers, body } = answered ?? (await forward());
    reply.writeHead(status, headers).end(body);
  };
  behind.proxy.inject(isWrite, stop, { skip: nth - 1, times: 1 });
  const leader = source.start([...applying, "--concurrency", "1"]);
  leading.resolve(leader);
  await stopped;
  const second = await runJudged({ ...trial, source: other });
  leader.kill("SIGCONT");
  wake();
  // What the second one made is not told by the leader: only what it says to have made itself is looked at.
  const first: Judged = { ended: await leader.ended, effects: [] };
  const findings = await settle(trial, { wanted: wantedOn(sort), runs: [first] });
  const last = await runJudged({ ...trial, source: other });
  await endTrial(trial);
  const wrong = [...wrongIn(trial, second), ...notAtRest(last)].map((line) => `${trial.what}: ${line}`);
  return { ...findings, wronglyReported: [...findings.wronglyReported, ...wrong] };
}
