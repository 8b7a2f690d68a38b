import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../../src/commands/run-command-line.ts";
import type { HoldfastError } from "../../src/core/errors.ts";
import type { Ended } from "./process.ts";

/** As long as a process gives to what is in flight. */
const GRACE_MS = 25_000;

/** Runs a command in this process, as the command line would: many of them are made in the time of one process. */
export async function runHere(
  args: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: { readonly [name: string]: string } },
): Promise<Ended> {
  const stdin = new PassThrough();
  const [stdout, stderr] = [wide(), wide()];
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  const terminal = {
    ...{ stdin, stdout, stderr, env, cwd, now: Date.now },
    ...{ program: import.meta.dirname, stopping: stopping.signal, signal: cutting.signal },
    stop: (reason: HoldfastError) => {
      stopping.abort(reason);
      setTimeout(() => cutting.abort(reason), GRACE_MS).unref();
    },
  };
  const said = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(args, terminal, "0.0.0");
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, signal: null, stdout: out, stderr: err };
}

// So wide that what is expected of a message does not depend on where its lines end.
function wide() {
  return Object.assign(new PassThrough(), { columns: 1000 });
}
