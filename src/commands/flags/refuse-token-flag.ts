import { HoldfastError } from "../../core/errors.ts";

/** Refuses a token on the command line, where every user of the machine can read it; the error does not quote it. */
export function refuseTokenFlag(args: readonly string[]): void {
  const end = args.indexOf("--");
  const flags = end === -1 ? args : args.slice(0, end);
  if (!flags.some((arg) => arg === "--token" || arg.startsWith("--token="))) return;
  throw new HoldfastError("invalid", "a token is never given on the command line, where others can read it", {
    hint: "set HOLDFAST_TOKEN, or name a file that holds it: --token-file FILE",
  });
}
