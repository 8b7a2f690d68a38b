import type { Running } from "../support/process.ts";
import { randomFrom } from "../support/random.ts";
import type { ControlPlaneSort } from "./control-planes.ts";
import { collect, type Findings, inParallel, record, type SweepResult, sample } from "./sweep.ts";
import { applying, endTrial, settle, startTrial, type Trial, wantedOn } from "./trial.ts";

/** Where an apply is killed: as a request leaves it, between effect and reply, after a reply, or in its ledger. */
const places = ["request", "effect", "reply", "ledger"] as const;

/** A point at which an apply is killed. */
type KillPoint = { readonly place: (typeof places)[number]; readonly nth: number };

/** Kills applies at points of their way, and finds out whether the next run puts everything right. */
export async function sweepKillPoints(
  sort: ControlPlaneSort,
  { most, seed, width }: { readonly most: number; readonly seed: number; readonly width: number },
): Promise<SweepResult> {
  const points = sample(await pointsOf(sort), most, randomFrom(seed));
  const findings = await inParallel(width, points, (point) => tryPoint(sort, point));
  const reached = findings.filter((one) => one !== null);
  const result = { sweep: "kill points of an apply", on: sort.name, seed, faults: 0, randomSteps: 0 } as const;
  const whole = { ...result, killPoints: reached.length, ...collect(reached) };
  record(whole);
  return whole;
}

// A run without a kill tells how many points there are.
async function pointsOf(sort: ControlPlaneSort): Promise<readonly KillPoint[]> {
  const trial = await startTrial("without a kill", sort);
  const ended = await trial.source.run(applying, killedAtStatement(0));
  const requests = trial.behind.proxy.asked.length;
  const statements = Math.max(...[...ended.stderr.matchAll(/^statements (\d+)$/gm)].map(([, count]) => Number(count)));
  await endTrial(trial);
  return places.flatMap((place) => {
    const count = place === "ledger" ? statements : requests;
    return Array.from({ length: count }, (_, index) => ({ place, nth: index + 1 }));
  });
}

/** What the kill did; null where the apply did not come to that point, since its requests are not always as many. */
async function tryPoint(sort: ControlPlaneSort, { place, nth }: KillPoint): Promise<Findings | null> {
  const trial = await startTrial(`killed at ${place} ${nth}`, sort);
  const ended = await killAt(trial, { place, nth });
  const findings = ended.signal === "SIGKILL" ? await settle(trial, { wanted: wantedOn(sort) }) : null;
  await endTrial(trial);
  return findings;
}

function killAt({ source, behind }: Trial, { place, nth }: KillPoint) {
  if (place === "ledger") return source.start(applying, killedAtStatement(nth)).ended;
  const apply = Promise.withResolvers<Running>();
  const kill = async (): Promise<void> => {
    const running = await apply.promise;
    running.kill("SIGKILL");
    await running.ended;
  };
  behind.proxy.inject(
    /./,
    async ({ reply, forward }) => {
      if (place === "request") await kill();
      else {
        const { status, headers, body } = await forward();
        if (place === "effect") await kill();
        else reply.writeHead(status, headers).end(body, () => void kill());
      }
      if (place !== "reply") reply.destroy();
    },
    { skip: nth - 1, times: 1 },
  );
  apply.resolve(source.start(applying));
  return apply.promise.then(({ ended }) => ended);
}

/** Ends the process, as a kill does, before the nth statement that a thread of it runs on a database; 0 counts them. */
function killedAtStatement(nth: number): { readonly NODE_OPTIONS: string } {
  const script = `
    import { writeSync } from "node:fs";
    import { StatementSync } from "node:sqlite";
    let count = 0;
    for (const name of ["run", "all", "get"]) {
      const original = StatementSync.prototype[name];
      StatementSync.prototype[name] = function (...given) {
        count += 1;
        if (count === ${nth}) process.kill(process.pid, "SIGKILL");
        if (${nth} === 0) writeSync(2, "statements " + count + "\\n");
        return original.apply(this, given);
      };
    }`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
