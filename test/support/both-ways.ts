import { AssertionError } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import type { Ended } from "./process.ts";

type Environment = { readonly [name: string]: string };

/** How one command of a test is made. */
export type Once = {
  /** Why a plan is not made again without its cache: then it would find another control plane or another source. */
  readonly once?: string | undefined;
  /** What a person types: then stdin and stderr are terminals. */
  readonly answer?: string | undefined;
  /** Whether nothing at all may stand on stderr after the result; a line of the log never may. */
  readonly endsWithResult?: boolean | undefined;
};

// `off` and `on` go to every command; without either, every plan is made twice.
const choice = process.env.HOLDFAST_CACHE ?? "";

/** What the environment of the tests says about the caches of every command that they run. */
export const cacheOfTests: Environment = choice === "" ? {} : { HOLDFAST_CACHE: choice };

/** Makes a plan again with `HOLDFAST_CACHE=off`, unless the tests are told one of both: its answer is the same, byte for byte. */
export async function madeBothWays(
  args: readonly string[],
  ended: Ended,
  { env, once }: Once & { readonly env: Environment },
  again: (env: Environment) => Promise<Ended>,
): Promise<Ended> {
  if (!isMadeTwice(args) || ended.signal !== null || once !== undefined || env.HOLDFAST_CACHE !== undefined)
    return ended;
  const actual = answerOf(await again({ ...env, HOLDFAST_CACHE: "off" }));
  const expected = answerOf(ended);
  if (isDeepStrictEqual(actual, expected)) return ended;
  const message = `${args.join(" ")} answers otherwise with HOLDFAST_CACHE=off`;
  throw new AssertionError({ message, actual, expected, operator: "deepStrictEqual" });
}

// What differs from run to run with the same cache is left out: the log of requests, moments, until when a control plane
// asks to wait, a deadline that may have passed in between, and the port of one that runs in the command; also that the cache itself cannot be written.
function answerOf({ code, stdout, stderr }: Ended): Omit<Ended, "signal"> {
  const said = stderr
    .split("\n")
    .filter((line) => !/^\{"level":|^\d\d:\d\d:\d\d\.\d+ |^warning: what was read of /.test(line));
  const steady = said.join("\n").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
  return {
    code,
    stdout: withoutCacheFaults(stdout)
      .replaceAll(/(asks to wait \d+ s, until) \S+Z/g, "$1 TIME")
      .replaceAll(DEADLINE, "$1 TIME")
      .replaceAll(DEADLINE_TEXT, ""),
    stderr: steady.replaceAll(/(embedded control plane at) \S+/g, "$1 URL"),
  };
}

const DEADLINE = /("arrivesUntil":) (?:null|"[^"]*")/g;
const DEADLINE_TEXT = /\s+\(it\s+may\s+arrive\s+until\s+\S+\s+apply\s+waits\s+for\s+that\)/g;

// The signature covers the diagnostics.
function withoutCacheFaults(stdout: string): string {
  if (!stdout.startsWith("{") || !stdout.includes('"not-remembered"')) return stdout;
  const { diagnostics, seal: _, ...rest } = JSON.parse(stdout);
  const kept = diagnostics.filter(({ summary }: { readonly summary: string }) => !/^what was read of /.test(summary));
  return JSON.stringify({ ...rest, diagnostics: kept }, null, 2);
}

// One that writes a plan to a file cannot write it there again.
function isMadeTwice(args: readonly string[]): boolean {
  return choice === "" && args.includes("plan") && !args.includes("--out");
}
