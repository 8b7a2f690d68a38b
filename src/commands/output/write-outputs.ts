import { appendFileSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { type FailureText, HoldfastError } from "../../core/errors.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { replaceFile } from "../../files/write-file.ts";
import { annotationsText, type Remark, stepOutputs } from "../../render/ci/annotations.ts";
import { failureReport } from "../../render/failure.ts";
import { allOutputs, type Output, type OutputFormat } from "../../render/output-format.ts";
import { checkoutAt } from "../../source/git/repository-paths.ts";
import type { Invocation } from "../command.ts";
import { type Terminal, writeResult } from "../terminal.ts";
import { outputPath } from "./output-path.ts";

/** The annotations, summary and outputs that `-o github` writes for the CI job. */
export type JobReport = {
  readonly remarks: readonly Remark[];
  readonly summary: string;
  readonly outputs: readonly (readonly [name: string, value: string])[];
};

/** Checks that each output file may be written, before the command does any work. */
export function openOutputs(
  { flags, terminal }: Invocation,
  content: string | null,
): (result: { readonly render: (format: OutputFormat) => string; readonly job: () => JobReport }) => Promise<void> {
  const outputs = allOutputs(flags.output).map((output): Output => {
    const { file } = output;
    return file === null ? output : { ...output, file: outputPath(file, { cwd: terminal.cwd, content }) };
  });
  return async ({ render, job }) => {
    for (const { format, file } of outputs) {
      if (format === "github") writeJobReport(job(), terminal);
      else if (file === null) await writeResult(terminal, render(format));
      else (terminal.collect ?? writeOutputFile)({ format, file }, render(format));
    }
  };
}

/** Writes a result in one format to its file. */
export function writeOutputFile({ file }: Output, text: string): void {
  if (file !== null) writeTo(file, text, { what: "result", hint: "name a file in a folder that exists" });
}

/** Writes a signed plan to the file of `--out`, and replaces an earlier one. */
export function writeSignedPlan(plan: string, path: string): void {
  writeTo(path, plan, { what: "plan", hint: "name a file in a folder that exists with --out" });
}

/** Writes a file that belongs to the user's own work: it has the mode that such files have. */
export function writeSharedFile(path: string, text: string, named: Naming): void {
  writeTo(path, text, { ...named, isShared: true });
}

type Naming = { readonly what: string; readonly hint: string; readonly isShared?: boolean };

function writeTo(path: string, text: string, { what, hint, isShared = false }: Naming): void {
  try {
    replaceFile(path, text, { isShared });
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new HoldfastError("invalid", `the ${what} cannot be written to ${path}${why}`, { hint, cause });
  }
}

/** Writes the failure of a command to each of its JSON output files, so that no result of an earlier run remains. */
export function writeFailureFiles({ flags, terminal }: Invocation, ending: FailureText): void {
  for (const { format, file } of flags.output ?? []) {
    if (format !== "json" || file === null || terminal.collect !== undefined) continue;
    try {
      const output = { format, file: outputPath(file, { cwd: terminal.cwd, content: checkoutAt(terminal.cwd) }) };
      writeOutputFile(output, failureReport(ending, terminal.warnings.all()));
    } catch (error) {
      // An unwritable output file must not hide the failure of the command itself.
      if (!(error instanceof HoldfastError) && !(error instanceof UnsafePathError)) throw error;
    }
  }
}

/** The path of the working directory within the checkout of a CI job. */
export function folderInCheckout({ cwd, env }: Terminal): string {
  const { GITHUB_WORKSPACE: top } = env;
  const path = top === undefined || top === "" ? "" : relative(resolve(top), cwd);
  return path.startsWith("..") ? "" : path.split(sep).join("/");
}

// The runner sets the files; outside a job only the annotations are written.
function writeJobReport({ remarks, summary, outputs }: JobReport, terminal: Terminal): void {
  const { GITHUB_STEP_SUMMARY: summaryFile, GITHUB_OUTPUT: outputsFile } = terminal.env;
  terminal.stderr.write(annotationsText(remarks, folderInCheckout(terminal)));
  if (summaryFile) appendFileSync(summaryFile, `${summary}\n`);
  if (outputsFile) appendFileSync(outputsFile, stepOutputs(outputs, `holdfast_${terminal.random.id()}`));
}
