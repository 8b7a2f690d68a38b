import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../../src/core/report/report.ts";
import { reportOf } from "../support/json-output.ts";
import { everyKind, type Files, service } from "../support/manifests.ts";
import type { Ended } from "../support/process.ts";
import type { Effect } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";
import type { Behind, ControlPlaneSort } from "./control-planes.ts";
import type { Findings } from "./sweep.ts";

/** One resource of every kind and a second service, so that two writes of a sort meet. */
export const trialFiles: Files = { ...everyKind, "services/worker.yaml": service("worker") };

/** A source and a control plane that one fault is tried on. */
export type Trial = {
  readonly what: string;
  readonly sort: ControlPlaneSort;
  readonly behind: Behind;
  readonly source: Source;
  /** Other sources of the same resources, with state folders of their own. */
  readonly others?: readonly Source[];
  /** The effects that were there before the fault. */
  readonly before: number;
};

// Short, since a run after a crash waits until nothing that was sent can arrive any more.
const flags = ["--request-timeout", "1", "--connect-timeout", "2", "--sink", "file", "--state", "state"];

/** How the sweeps apply. */
export const applying: readonly string[] = ["apply", "--yes", "-o", "json", ...flags];

/** Starts a control plane and lays out a source for it. */
export async function startTrial(what: string, sort: ControlPlaneSort, files: Files = trialFiles): Promise<Trial> {
  const behind = await sort.start();
  const source = await sourceOf(files, behind.proxy.server);
  return { what, sort, behind, source, before: behind.server.effects().length };
}

/** Ends the control plane of a trial, since a sweep starts hundreds of them. */
export async function endTrial({ behind }: Trial): Promise<void> {
  behind.server.process.kill("SIGKILL");
  await behind.server.process.ended;
}

/** A run of the command, and the effects that the control plane recorded during it. */
export type Judged = { readonly ended: Ended; readonly effects: readonly Effect[] };

/** Runs a command of a trial to its end. */
export async function runJudged({ source, behind }: Trial, args: readonly string[] = applying): Promise<Judged> {
  // What an earlier run has sent may still arrive.
  await behind.proxy.idle();
  const before = behind.server.effects().length;
  const ended = await source.runHere(args);
  return { ended, effects: behind.server.effects().slice(before) };
}

/** Which resource an effect is on, whatever its version. */
export function identityOf({ resource }: Effect): string {
  return withoutVersion(resource);
}

/** What is known of a trial before it is put right. */
type SettleOptions = {
  /** The resources that are to be written once. */
  readonly wanted: readonly string[];
  /** The runs so far. */
  readonly runs?: readonly Judged[];
  /** Whether a further run has to find nothing to do. @default true */
  readonly rests?: boolean;
  /** Whether nobody could have kept a write from being doubled: then it counts where nobody has said so. */
  readonly mayDouble?: boolean;
};

/** Applies again without a fault: everything is to be as wanted then, made once, and rightly reported. */
export async function settle(
  trial: Trial,
  { wanted, runs = [], rests = true, mayDouble = false }: SettleOptions,
): Promise<Findings> {
  trial.behind.proxy.heal();
  const converging = await runJudged(trial);
  const resting = rests ? [await runJudged(trial)] : [];
  const all = [...runs, converging, ...resting];
  return withCase(trial, {
    doubled: doubledIn(trial, wanted)
      .filter(([identity]) => !mayDouble || !all.some((run) => tellsOfDouble(run, identity)))
      .map(([identity, count]) => `${identity} was written ${count} times`),
    lost: [...missingIn(trial, wanted), ...(await lostTokens(trial, all))],
    wronglyReported: [
      ...all.flatMap((run) => wrongIn(trial, run)),
      ...notConverged(converging),
      ...resting.flatMap(notAtRest),
    ],
  });
}

function withCase({ what, sort }: Trial, { doubled, lost, wronglyReported }: Findings): Findings {
  const told = (line: string) => `${sort.name}, ${what}: ${line}`;
  return { doubled: doubled.map(told), lost: lost.map(told), wronglyReported: wronglyReported.map(told) };
}

function effectsOn(trial: Trial): ReadonlyMap<string, number> {
  const effects = trial.behind.server.effects().slice(trial.before);
  return new Map([...Map.groupBy(effects, identityOf)].map(([identity, all]) => [identity, all.length]));
}

function doubledIn(trial: Trial, wanted: readonly string[]): readonly (readonly [string, number])[] {
  return [...effectsOn(trial)].filter(([identity, count]) => count > (wanted.includes(identity) ? 1 : 0));
}

/** Whether a run has said that a resource was written twice, or that there is another writer. */
function tellsOfDouble({ ended }: Judged, identity: string): boolean {
  if (ended.code === 8) return true;
  const { outcomes = [] } = documentIn(ended);
  const isTold = outcomes.some(
    (one) =>
      withoutVersion(one.identity) === identity && /^(?:duplicate-version|other-writer)$/.test(one.error?.code ?? ""),
  );
  return isTold || (ended.stderr.includes("another writer may be at work") && ended.stderr.includes(identity));
}

function missingIn(trial: Trial, wanted: readonly string[]): readonly string[] {
  const effects = effectsOn(trial);
  return wanted.filter((identity) => !effects.has(identity)).map((identity) => `${identity} was not written`);
}

/** The resources of the trial's files that an apply has to make. */
export function wantedOn(sort: ControlPlaneSort): readonly string[] {
  const all = [
    ["workspace/dev:web", "ml-repo/registry", "cluster/dev"],
    ["service/dev:web/api", "service/dev:web/worker", "team/ml", "virtual-account/ci"],
    ["chat_prompt/registry/greeting", "model-version/registry/ranker"],
  ];
  return (sort.name === "documented-only" ? all.slice(1) : all).flat();
}

async function lostTokens(trial: Trial, runs: readonly Judged[]): Promise<readonly string[]> {
  const accounts = [...effectsOn(trial).keys()].filter((identity) => identity.startsWith("virtual-account/"));
  const found = await Promise.all(accounts.map((identity) => lostToken(identity, trial, runs)));
  return found.flat();
}

/** Whether an account's token is neither delivered nor reported as lost. */
async function lostToken(
  identity: string,
  { source, others = [], behind }: Trial,
  runs: readonly Judged[],
): Promise<readonly string[]> {
  const host = new URL(behind.proxy.url).host.replace(":", "_");
  const paths = [source, ...others].map(({ folder }) => join(folder, "state/tokens", host, identity));
  const path = paths.find(existsSync);
  if (path === undefined) {
    const isTold = runs.some(({ ended }) => /token-(?:unrecovered|lost)/.test(ended.stdout));
    return isTold ? [] : [`the token of ${identity}, without a word`];
  }
  const authorization = `Bearer ${readFileSync(path, "utf8").trim()}`;
  const { ok } = await fetch(`${behind.server.url}/api/svc/v1/workspaces`, { headers: { authorization } });
  return ok ? [] : [`the token of ${identity}: another one was delivered`];
}

const failures = ["failed", "blocked", "unknown"];

/** What a run says that is not so. */
export function wrongIn(trial: Trial, { ended, effects }: Judged): readonly string[] {
  if (/a fault of holdfast|^ {4}at .*:\d+:\d+/m.test(ended.stderr)) return [`it crashed: ${ended.stderr}`];
  if (ended.code === null) return [`it was ended by ${ended.signal}`];
  const { outcomes = [] } = documentIn(ended);
  const isBad = outcomes.some(({ result }) => failures.includes(result));
  return [
    ...wrongOutcomes(outcomes, new Set(effects.map(identityOf)), effectsOn(trial)),
    ...(ended.code === 0 && isBad ? ["exit 0 with failures"] : []),
    ...(ended.code === 0 || isBad || ended.stderr !== "" ? [] : [`exit ${ended.code} without a reason`]),
  ];
}

function wrongOutcomes(
  outcomes: readonly Outcome[],
  inRun: ReadonlySet<string>,
  sinceStart: ReadonlyMap<string, number>,
): readonly string[] {
  const told = (identity: string) => outcomes.filter((one) => withoutVersion(one.identity) === identity);
  const missing = outcomes.filter(
    ({ result, identity }) => isMade(result) && !sinceStart.has(withoutVersion(identity)),
  );
  // A token that is lost is a failure, whatever became of the account.
  const isTold = ({ result, error }: Outcome) =>
    isMade(result) || result === "unknown" || error?.code.startsWith("token-") === true;
  const untold = [...inRun].filter((identity) => !told(identity).some(isTold));
  return [
    ...missing.map(({ identity, result }) => `${identity} is reported as ${result}, and was not made`),
    ...untold.map((identity) => `${identity} was made, and is reported as ${wordFor(told(identity))}`),
  ];
}

const wordFor = (outcomes: readonly Outcome[]): string =>
  outcomes.map(({ result, error }) => `${result} ${error?.code ?? ""} ${error?.message ?? ""}`).join(", ") || "nothing";

const withoutVersion = (identity: string): string => identity.replace(/@\d+$/, "");

const isMade = (result: string) => result === "created" || result === "updated";

function documentIn(ended: Ended): Partial<ReturnType<typeof reportOf>> {
  if (ended.stdout === "") return {};
  return reportOf(ended);
}

/** Why a run without a fault has not put everything right. */
function notConverged(run: Judged): readonly string[] {
  const isDone = run.ended.code === 0 || /token-(?:unrecovered|lost)/.test(run.ended.stdout);
  return isDone ? [] : [`the run without a fault ends with ${told(run)}`];
}

/** Why a run after it has found something to do. */
export function notAtRest(run: Judged): readonly string[] {
  const { outcomes = [] } = documentIn(run.ended);
  const isAtRest = run.ended.code === 0 && run.effects.length === 0 && outcomes.every(isUnchanged);
  return isAtRest ? [] : [`the run after it ends with ${told(run)}`];
}

const isUnchanged = ({ result }: Outcome): boolean => result === "unchanged";

function told({ ended }: Judged): string {
  const { outcomes = [] } = documentIn(ended);
  const bad = outcomes.filter(({ result }) => result !== "unchanged");
  return `${ended.code}: ${bad.map(({ identity, result, error }) => `${identity} ${result} ${error?.code ?? ""} ${error?.message ?? ""}`).join("; ")} ${ended.stderr}`;
}
