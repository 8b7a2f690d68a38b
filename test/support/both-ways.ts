import { AssertionError } from "node:assert";
import { isDeepStrictEqual } from "node:util";
import type { Ended } from "./process.ts";

type Environment = { readonly [name: string]: string };

/** How one command of a test is made. */
export type Once = {
  /** Why a plan is not made again without its cache: then it would find another control plane or another source. */
  readonly once?: string | undefined;
};

// `both` makes every plan twice; `off` and `on` go to every command.
const choice = process.env.HOLDFAST_CACHE ?? "";

/** What the environment of the tests says about the caches of every command that they run. */
export const cacheOfTests: Environment = choice === "" || choice === "both" ? {} : { HOLDFAST_CACHE: choice };

/** Makes a plan again with `HOLDFAST_CACHE=off`, where the tests are told to: its answer is the same, byte for byte. */
export async function madeBothWays(
  args: readonly string[],
  ended: Ended,
  { env, once }: Once & { readonly env: Environment },
  again: (env: Environment) => Promise<Ended>,
): Promise<Ended> {
  if (!isMadeTwice(args) || ended.signal !== null || once !== undefined || env.HOLDFAST_CACHE !== undefined)
    return ended;
  const uncached = await again({ ...env, HOLDFAST_CACHE: "off" });
  if (isDeepStrictEqual(uncached, ended)) return ended;
  const message = `${args.join(" ")} answers otherwise with HOLDFAST_CACHE=off`;
  throw new AssertionError({ message, actual: uncached, expected: ended, operator: "deepStrictEqual" });
}

// One that writes a plan to a file cannot write it there again.
function isMadeTwice(args: readonly string[]): boolean {
  return choice === "both" && args.includes("plan") && !args.includes("--out");
}
