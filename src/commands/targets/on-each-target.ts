import { Writable } from "node:stream";
import { exitCodes, HoldfastError, worstExitCode } from "../../core/errors.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import { joinGitlabReports } from "../../render/ci/gitlab-report.ts";
import { joinSarifReports } from "../../render/ci/sarif.ts";
import { jsonText } from "../../render/escape.ts";
import { failureReport } from "../../render/failure.ts";
import { MANY_TARGETS, manyTargetsText, type TargetResult } from "../../render/many-targets.ts";
import { type Output, stdoutFormat } from "../../render/output-format.ts";
import type { Invocation } from "../command.ts";
import { showFaults } from "../output/end-with-invalid-source.ts";
import { tellFailure } from "../output/log-stream.ts";
import { writeOutputFile } from "../output/write-outputs.ts";
import { columnsOn, writeResult } from "../terminal.ts";
import type { CommandTarget, TargetUse } from "./create-target.ts";
import { type FoundTargets, findTargets, onlyTarget, TargetNeededError, usableTarget } from "./find-targets.ts";

/** Finds the target of a run, which closes it at its end. */
export type FindTarget = (use: TargetUse) => Promise<CommandTarget>;

type Run = (invocation: Invocation, find: FindTarget) => Promise<number>;

/** Runs a read-only command on the named target, or on every target in turn if none is named; they are found once. */
export function onEachTarget(run: Run): (invocation: Invocation) => Promise<number> {
  return async (invocation) => {
    await using resources = new AsyncDisposableStack();
    const found: FoundTargets[] = [];
    const findOnly: FindTarget = async (use) => {
      const opened = resources.use(await findTargets(invocation, use));
      found.push(opened);
      return usableTarget(onlyTarget(opened, invocation.flags), use);
    };
    try {
      return await run(invocation, findOnly);
    } catch (error) {
      if (!(error instanceof TargetNeededError) || invocation.flags.out !== undefined) throw error;
      const targets = found.flatMap((one) => one.targets).filter(({ name }) => error.names.includes(name));
      return await runOnEach(targets, run, invocation);
    }
  };
}

async function runOnEach(targets: readonly CommandTarget[], run: Run, invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  const format = stdoutFormat(flags.output);
  const collected: Collected[] = [];
  const results: (TargetResult & { readonly code: number })[] = [];
  const isMany = targets.length >= MANY_TARGETS;
  for (const one of targets) {
    const { name: target } = one;
    terminal.stopping.throwIfAborted();
    const { stdout, text } = collector(terminal);
    const collect = (output: Output, result: string) => void collected.push({ target, output, result });
    const of = { ...invocation, flags: { ...flags, target }, terminal: { ...terminal, stdout, collect } };
    // What the run writes to standard error is about this target, so the heading comes before it.
    if (format === "text" && !isMany) await writeResult(terminal, `Target ${target}\n`);
    const { code, error } = await endOf((given) => run(given, async (use) => usableTarget(one, use)), of);
    const hasFailed = code !== 0 && code !== WITH_CHANGES;
    results.push({ target, code, hasFailed, text: text() || (error === null ? "" : `failed: ${error.message}`) });
    if (format !== "text") collect({ format, file: null }, text());
    else if (!isMany) await writeResult(terminal, `${text()}\n`);
  }
  if (format === "text" && isMany) await writeResult(terminal, manyTargetsText(results, columnsOn(terminal.stdout)));
  for (const ofFile of Map.groupBy(collected, ({ output }) => output.file).values())
    await writeJoined(ofFile, terminal);
  return worstExitCode(results.map(({ code }) => code));
}

/** The exit code of a plan with changes, where it was asked for. */
const WITH_CHANGES = 2;

type Collected = { readonly target: string; readonly output: Output; readonly result: string };

// Each document contains the results of all targets.
async function writeJoined(results: readonly Collected[], terminal: Invocation["terminal"]): Promise<void> {
  const [first] = results;
  if (first === undefined) return;
  const text = joinResults(first.output.format, results);
  if (first.output.file === null) await writeResult(terminal, text);
  else writeOutputFile(first.output, text);
}

function joinResults(format: Output["format"], results: readonly Collected[]): string {
  if (format === "text" || format === "markdown") return results.map(({ result }) => result).join("\n");
  const documents = results.map(({ target, result }) => ({ target, ...JSON.parse(result || "{}") }));
  if (format === "gitlab") return joinGitlabReports(documents);
  if (format === "sarif") return joinSarifReports(documents);
  return jsonText({ format_version: FORMAT_VERSION, targets: documents });
}

/** How the run over one target has ended; an error of one does not stop the others. */
type RunEnd = { readonly code: number; readonly error: HoldfastError | null };

async function endOf(run: (invocation: Invocation) => Promise<number>, invocation: Invocation): Promise<RunEnd> {
  const { stderr, stopping } = invocation.terminal;
  try {
    return { code: await run(invocation), error: null };
  } catch (error) {
    if (!(error instanceof HoldfastError) || stopping.aborted) throw error;
    showFaults(error, invocation);
    if (stdoutFormat(invocation.flags.output) === "json")
      await writeResult(invocation.terminal, failureReport(error, invocation.terminal.warnings.all()));
    tellFailure(stderr, "failed", error);
    return { code: exitCodes[error.code], error };
  }
}

function collector({ stdout }: Invocation["terminal"]) {
  const parts: Buffer[] = [];
  const collecting = new Writable({
    write: (part: Buffer, _, done) => {
      parts.push(part);
      done();
    },
  });
  return {
    stdout: Object.assign(collecting, { isTTY: stdout.isTTY ?? false, columns: columnsOn(stdout) }),
    text: () => Buffer.concat(parts).toString("utf8"),
  };
}
