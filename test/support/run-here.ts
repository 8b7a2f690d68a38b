import { AssertionError } from "node:assert";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { runCommandLine } from "../../src/commands/run-command-line.ts";
import type { HoldfastError } from "../../src/core/errors.ts";
import { cacheOfTests, madeBothWays, type Once } from "./both-ways.ts";
import type { Ended } from "./process.ts";

/** As long as a process gives to what is in flight. */
const GRACE_MS = 25_000;

// So wide that what is expected of a message does not depend on where its lines end.
const WIDE = "1000";

type Environment = { readonly [name: string]: string };

/** Runs a command in this process, as the command line would: many of them are made in the time of one process. */
export async function runHere(
  args: readonly string[],
  { cwd, env = {}, once, answer, endsWithResult }: Once & { readonly cwd: string; readonly env?: Environment },
): Promise<Ended> {
  const here = (env: Environment): Promise<Ended> =>
    runIn(cwd, args, { ...cacheOfTests, ...env }, { answer, endsWithResult });
  return madeBothWays(args, await here(env), { env, once }, here);
}

async function runIn(
  cwd: string,
  args: readonly string[],
  env: Environment,
  { answer, endsWithResult = false }: Pick<Once, "answer" | "endsWithResult">,
): Promise<Ended> {
  const stdin = Object.assign(new PassThrough(), { isTTY: answer !== undefined });
  if (answer !== undefined) stdin.write(answer);
  const columns = Number(env.COLUMNS ?? WIDE) || undefined;
  const [stdout, stderr] = [outputOf(columns), outputOf(columns)];
  const last = lastWords(stdout, stderr);
  const [stopping, cutting] = [new AbortController(), new AbortController()];
  const terminal = {
    ...{ stdin, stdout, stderr, env, cwd, clock: systemClock, random: systemRandom },
    ...{
      program: import.meta.dirname,
      version: "0.0.0",
      commit: () => null,
      stopping: stopping.signal,
      signal: cutting.signal,
    },
    stop: (reason: HoldfastError) => {
      stopping.abort(reason);
      setTimeout(() => cutting.abort(reason), GRACE_MS).unref();
    },
  };
  Object.assign(stderr, { isTTY: answer !== undefined });
  const said = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(args, terminal);
  requireResultLast(args, last(), endsWithResult);
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, signal: null, stdout: out, stderr: err };
}

/** What was written on stderr after the last word on stdout; empty where nothing was written there. */
function lastWords(stdout: PassThrough, stderr: PassThrough): () => string {
  let after: string | null = null;
  const [writeOut, writeErr] = [stdout.write.bind(stdout), stderr.write.bind(stderr)];
  Object.assign(stdout, {
    write: (...given: Parameters<typeof writeOut>) => {
      after = "";
      return writeOut(...given);
    },
  });
  Object.assign(stderr, {
    write: (...given: Parameters<typeof writeErr>) => {
      if (after !== null) after += String(given[0]);
      return writeErr(...given);
    },
  });
  return () => after ?? "";
}

const LOG_LINE = /^(?:\{"level":|\d\d:\d\d:\d\d\.\d+ )/m;

function requireResultLast(args: readonly string[], after: string, isStrict: boolean): void {
  if (!LOG_LINE.test(after) && !(isStrict && after !== "")) return;
  throw new AssertionError({ message: `${args.join(" ")} writes after its result: ${after}` });
}

function outputOf(columns: number | undefined) {
  return Object.assign(new PassThrough(), columns === undefined ? {} : { columns });
}
