import { PassThrough, Writable } from "node:stream";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { createProgram } from "../../src/commands/program.ts";
import { HoldfastError } from "../../src/core/errors.ts";

export { runHere } from "./run-here.ts";

/** The `serve` command at work in this process. */
export type Serving = { readonly url: string; readonly stop: () => Promise<void> };

/** Runs `holdfast serve` in this process, with the code of the bundle, until it is told to stop. */
export async function serveHere(flags: readonly string[], cwd: string): Promise<Serving> {
  const stopping = new AbortController();
  const stop = (reason: HoldfastError) => stopping.abort(reason);
  const said: string[] = [];
  let isListening = (_url: string) => {};
  const listening = new Promise<string>((resolve) => {
    isListening = resolve;
  });
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      const url = /^listening on (\S+)\n/.exec(String(chunk))?.[1];
      if (url !== undefined) isListening(url);
      done();
    },
  });
  const stderr = new Writable({
    write: (chunk, _encoding, done) => {
      said.push(String(chunk));
      done();
    },
  });
  const terminal = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: { PATH: process.env.PATH, HOME: cwd },
    cwd,
    program: import.meta.dirname,
    version: "0.0.0",
    commit: () => null,
    clock: systemClock,
    random: systemRandom,
    stopping: stopping.signal,
    signal: new AbortController().signal,
    stop,
  };
  const args = ["serve", ...flags];
  const ended = createProgram(terminal, { done: () => {} }, args).parseAsync(args, { from: "user" });
  const url = await Promise.race([
    listening,
    ended.then(() => {
      throw new Error(`serve ended before it listened:\n${said.join("")}`);
    }),
  ]);
  return {
    url,
    stop: async () => {
      stop(new HoldfastError("terminated", "the test is over"));
      await ended;
    },
  };
}
