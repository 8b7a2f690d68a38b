import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { toHoldfastError } from "../../src/commands/errors/to-holdfast-error.ts";
import { createProgram } from "../../src/commands/program.ts";
import { exitCodes } from "../../src/core/errors.ts";
import type { Ended } from "./process.ts";

/** Runs a command in this process, as the command line would: many of them are made in the time of one process. */
export async function runHere(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: { readonly [name: string]: string } },
): Promise<Ended> {
  const stdin = new PassThrough();
  const [stdout, stderr] = [wide(), wide()];
  const never = new AbortController().signal;
  const terminal = {
    ...{ stdin, stdout, stderr, env, cwd, now: Date.now },
    ...{ program: import.meta.dirname, stopping: never, signal: never, stop: () => undefined },
  };
  const said = Promise.all([text(stdout), text(stderr)]);
  let code: number | null = null;
  try {
    await createProgram(terminal, "0.0.0", (ended) => {
      code = ended;
    }).parseAsync(["node", "holdfast", ...args]);
  } catch (error) {
    const failure = toHoldfastError(error);
    if (failure === null) throw error;
    code = exitCodes[failure.code];
    stderr.write(`error: ${failure.message}\n  → ${failure.hint ?? ""}\n`);
    for (const { summary } of failure.diagnostics) stderr.write(`  ${summary}\n`);
  }
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, signal: null, stdout: out, stderr: err };
}

// So wide that what is expected of a message does not depend on where its lines end.
function wide() {
  return Object.assign(new PassThrough(), { columns: 1000 });
}
