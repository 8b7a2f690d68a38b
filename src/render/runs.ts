import type { RunsReport, ShownRun } from "../core/report/report.ts";
import { durationText } from "../core/stages/duration.ts";
import { timestampText } from "../core/timestamp-text.ts";
import { printable } from "./escape.ts";
import { wrapWords } from "./wrap.ts";

type RunsView = { readonly width: number };

/** The newest runs of a job as text, newest first. */
export function runsText({ job, runs, isCut }: RunsReport, view: RunsView): string {
  if (runs.length === 0) return `${printable(job)} has no run\n`;
  const older = isCut ? "older runs are not shown\n" : "";
  return `${runs.map((run) => jobRunText(run, view)).join("")}${older}`;
}

/** A run in a line, and below it why it failed. */
export function jobRunText(run: ShownRun, { width }: RunsView): string {
  const { name, status, version, began, triggeredBy, error } = run;
  const head = [
    `${name}  ${status}${exitText(run)}`,
    ...(began === null ? [] : [`since ${timestampText(Date.parse(began))}${tookText(run)}`]),
    `version ${version}`,
    ...(triggeredBy === null ? [] : [`by ${triggeredBy}`]),
  ].join(", ");
  const lines = wrapWords(printable(head), { indent: "", nextIndent: "  ", width });
  const why = error === null ? [] : wrapWords(printable(error), { indent: "  ", nextIndent: "  ", width });
  return [...lines, ...why, ""].join("\n");
}

function exitText({ exitCode }: ShownRun): string {
  return exitCode === null || exitCode === 0 ? "" : ` (exit code ${exitCode})`;
}

function tookText({ began, ended }: ShownRun): string {
  if (began === null || ended === null) return "";
  return `, took ${durationText(Date.parse(ended) - Date.parse(began))}`;
}

/** What became of the run that a rollout started, as it stands behind the outcome. */
export function startedRunNote(run: ShownRun): string {
  const why = run.error === null ? "" : `: ${printable(run.error)}`;
  return `run ${printable(run.name)} ${printable(run.status)}${exitText(run)}${why}`;
}
