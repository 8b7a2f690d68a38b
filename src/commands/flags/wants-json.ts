import { type RawEnvironment, rawOutputs } from "./raw-values.ts";

/** Whether a command line requests JSON on stdout. It may be invalid otherwise: the error is then written as JSON too. */
export function wantsJson(args: readonly string[], env: RawEnvironment): boolean {
  const onStdout = rawOutputs(args, env)
    .flatMap((text) => text.split(","))
    .filter((one) => !one.includes("=") && one !== "github");
  return onStdout.at(-1) === "json";
}
