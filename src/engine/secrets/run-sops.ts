import type { Stop } from "../../clock/clock.ts";
import type { SopsProgram } from "../../sops/sops-program.ts";
import { envOfProgram, runProgram } from "../run-program.ts";
import type { SecretPlace } from "./secret-source.ts";

const TIMEOUT_MS = 60_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** The operator's program `sops`, without credentials of Holdfast in its environment. */
export function sopsProgram(
  [name = "", ...first]: readonly string[],
  { cwd, env, clock, hidden }: SecretPlace,
  { signal }: Stop,
): SopsProgram {
  return {
    name,
    run: (args, input) => {
      const stop = AbortSignal.any([signal, clock.timeout(TIMEOUT_MS)]);
      const running = { cwd, env: envOfProgram(env, hidden), input, mostBytes: MOST_BYTES, stop };
      return runProgram(name, [...first, ...args], running);
    },
  };
}
