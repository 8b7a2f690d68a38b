import { PassThrough, Writable } from "node:stream";
import type { Command } from "commander";
import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import { exitCodes, HoldfastError } from "../../core/errors.ts";
import { failureReport } from "../../render/failure.ts";
import type { Invocation } from "../command.ts";
import { endingOf } from "../errors/ending-of.ts";
import type { ProcessTerminal, RunEvents, Warnings } from "../terminal.ts";
import type { ToolEnd } from "./reply.ts";
import type { Tool, ToolArguments } from "./tool.ts";
import { toolEnvironment } from "./tool-environment.ts";

/** Makes the command line, as the program does. */
export type MakeProgram = (terminal: ProcessTerminal, events: RunEvents, words: readonly string[]) => Command;

/** No call takes longer. */
const SECONDS = 300;
/** No command may write more. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Runs the command of a tool in this process, with streams of its own. */
export async function runTool(
  tool: Tool,
  given: ToolArguments,
  {
    invocation,
    program,
    signal,
  }: { readonly invocation: Invocation; readonly program: MakeProgram; readonly signal: AbortSignal },
): Promise<ToolEnd> {
  const { name, flags } = tool.command(given);
  const passed = [...(invocation.spelled ?? [])].flatMap(([flag, words]) => (isPassed(flag, flags) ? words : []));
  const named = typeof given.target === "string" ? [`--target=${given.target}`] : [];
  const { terminal, stdout, stderr } = captured(invocation.terminal, signal);
  let exitCode = 0;
  let warnings: Warnings | undefined;
  const events: RunEvents = {
    begun: (begun) => {
      warnings = begun;
    },
    done: (code) => {
      exitCode = code;
    },
  };
  let own: readonly string[] = [];
  let failed: string | null = null;
  try {
    own = tool.words(given);
    const words = [name, "--output=json", `--timeout=${SECONDS}`, ...passed, ...named, ...own];
    await program(terminal, events, words).parseAsync(words, { from: "user" });
  } catch (error) {
    const ending = endingOf(error, terminal);
    exitCode = exitCodes[ending.code];
    failed = failureReport(ending, warnings?.all());
  }
  const result = parseJsonOrNull(stdout() || failed || "");
  const all = isObject(result) ? result : null;
  const isWhole = all !== null && stdout() !== "" && tool.pick !== undefined;
  return { exitCode, result: isWhole && tool.pick ? tool.pick(all, given, own) : all, notes: stderr() };
}

// General flags of every command that say what is read, and flags of `mcp` that the command has too.
function isPassed(flag: string, flags: readonly string[]): boolean {
  return flag === "source" || flag === "config" || flag === "state" || flags.includes(flag);
}

function captured(outer: ProcessTerminal, asked: AbortSignal) {
  const own = new AbortController();
  const cancelled = () => own.abort(new HoldfastError("interrupted", "the call was cancelled"));
  asked.addEventListener("abort", cancelled, { once: true });
  if (asked.aborted) cancelled();
  const stop = (reason: HoldfastError): void => own.abort(reason);
  const [stdout, stderr] = [collector(stop), collector(stop)];
  const stdin = new PassThrough();
  stdin.end();
  const stopping = AbortSignal.any([outer.stopping, own.signal]);
  const { onHangup: _, collect: __, outputFiles: ___, logsToStdout: ____, ...process } = outer;
  const terminal: ProcessTerminal = {
    ...process,
    ...{ stdin, stdout: stdout.stream, stderr: stderr.stream, env: toolEnvironment(outer.env) },
    ...{ stopping, signal: AbortSignal.any([outer.signal, own.signal]), stop },
  };
  return { terminal, stdout: stdout.text, stderr: stderr.text };
}

function collector(stop: (reason: HoldfastError) => void) {
  const parts: Buffer[] = [];
  let size = 0;
  const stream = new Writable({
    write: (part: Buffer, _, done) => {
      size += part.length;
      if (size <= MOST_BYTES) parts.push(part);
      else stop(new HoldfastError("invalid", "the result is too long", { hint: "ask for less" }));
      done();
    },
  });
  return {
    stream: Object.assign(stream, { columns: 200 }),
    text: () => (size > MOST_BYTES ? "" : Buffer.concat(parts).toString("utf8")),
  };
}
