import { Writable } from "node:stream";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { printable } from "../render/escape.ts";
import { failureReport } from "../render/failure.ts";
import { jsonText } from "../render/json.ts";
import type { Invocation } from "./command.ts";
import { showFaults } from "./failure-report.ts";
import { TargetNeededError } from "./target.ts";
import { writeResult } from "./terminal.ts";

type Run = (invocation: Invocation) => Promise<number>;

// Of several exit codes the first of these counts.
const PRECEDENCE = [143, 130, 3, 4, 8, 6, 5, 9, 7, 1, 2];

/** Runs a command that writes nothing on the target that is named, or on one after the other where none is. */
export function onEachTarget(run: Run): Run {
  return async (invocation) => {
    try {
      return await run(invocation);
    } catch (error) {
      if (!(error instanceof TargetNeededError) || invocation.flags.out !== undefined) throw error;
      return runOnEach(error.names, run, invocation);
    }
  };
}

async function runOnEach(names: readonly string[], run: Run, invocation: Invocation): Promise<number> {
  const { flags, terminal } = invocation;
  const isJson = flags.output === "json";
  const results: object[] = [];
  const codes: number[] = [];
  for (const target of names) {
    terminal.stopping.throwIfAborted();
    const { stdout, text } = collector(terminal);
    const of = { ...invocation, flags: { ...flags, target }, terminal: { ...terminal, stdout } };
    codes.push(await codeOf(run, of));
    if (isJson) results.push({ target, ...JSON.parse(text() || "{}") });
    else await writeResult(terminal, `Target ${target}\n${text()}\n`);
  }
  if (isJson) await writeResult(terminal, jsonText({ format_version: "2.0", targets: results }));
  return PRECEDENCE.find((code) => codes.includes(code)) ?? 0;
}

// What is wrong with one target does not keep the others from being looked at.
async function codeOf(run: Run, invocation: Invocation): Promise<number> {
  const { stderr, stopping } = invocation.terminal;
  try {
    return await run(invocation);
  } catch (error) {
    if (!(error instanceof HoldfastError) || stopping.aborted) throw error;
    showFaults(error, invocation);
    if (invocation.flags.output === "json") await writeResult(invocation.terminal, failureReport(error));
    const next = error.hint === null ? "" : `  → ${printable(error.hint)}\n`;
    stderr.write(`error: ${printable(error.message)}\n${next}`);
    return exitCodes[error.code];
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
    stdout: Object.assign(collecting, { isTTY: stdout.isTTY ?? false }),
    text: () => Buffer.concat(parts).toString("utf8"),
  };
}
