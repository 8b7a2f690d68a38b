import { isObject, type Json, text } from "../../contract/json.ts";
import { runState } from "../../contract/rollout-state.ts";
import type { Identity } from "../manifest.ts";
import { runTimes } from "../run-times.ts";
import type { GateAnswer } from "./content-gate.ts";
import { type RegisteredVersion, unanswered } from "./judge-metric.ts";

type Run = { readonly name: string; readonly began: number; readonly ended: number | null; readonly run: Fields };
type Fields = { readonly [name: string]: Json | undefined };

/**
 * Judges a version by the newest finished run of a job that began after the version was registered. Both times are those of
 * the control plane, so that the clock of this machine does not matter.
 */
export function judgeRun(job: Identity, version: RegisteredVersion, rows: readonly Json[]): GateAnswer {
  const { name, registeredAt } = version;
  if (!Number.isFinite(registeredAt)) return unanswered(`the registry does not say when ${name} was registered`);
  const runs = rows.filter(isObject).map(toRun);
  const untimed = runs.find(({ began }) => !Number.isFinite(began));
  if (untimed !== undefined) return unanswered(`run ${untimed.name} of ${job} does not say when it began`);
  const since = runs.filter(({ began }) => began > registeredAt).toSorted((a, b) => b.began - a.began);
  const finished = since.filter(({ ended }) => ended !== null);
  const [newest] = finished;
  if (newest === undefined) {
    const [running] = since;
    if (running !== undefined) return unanswered(`run ${running.name} of ${job} has not ended`);
    const before = runs.length === 0 ? "" : `; the newest of ${runs.length} began before that`;
    return unanswered(`no run of ${job} has begun since ${name} was registered${before}`);
  }
  // Times may be whole seconds: of several that began at the newest one, each must have succeeded.
  const last = finished.filter(({ began }) => began === newest.began).map((one) => answerOf(one, name));
  return last.find(({ verdict }) => verdict !== "pass") ?? answerOf(newest, name);
}

function answerOf({ name, began, ended, run }: Run, version: string): GateAnswer {
  const { status, exitCode } = run;
  if (ended !== null && ended < began) return unanswered(`run ${name} ended before it began, by its own times`);
  const code = typeof exitCode === "number" ? exitCode : null;
  const isGood = runState(text(status) ?? "") === "succeeded" && (code ?? 0) === 0;
  const how = `${text(status) ?? "no status"}${code === null ? "" : `, exit code ${code}`}`;
  return { verdict: isGood ? "pass" : "fail", score: null, summary: `run ${name} since ${version}: ${how}` };
}

function toRun(run: Fields): Run {
  return { name: text(run.name) ?? "without a name", ...runTimes(run), run };
}
