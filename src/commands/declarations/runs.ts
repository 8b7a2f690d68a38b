import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `runs`. */
export const runs = declareCommand({
  name: "runs",
  arguments: "<id> [run]",
  argumentsAre: [
    "identity of a job, such as job/c1:ws1/nightly",
    "name of one of its runs; default: all of the newest",
  ],
  summary: "show the runs of a job, or follow one until it ends",
  flags: ["follow", "waitTimeout", "target", "output", ...serverFlags],
  examples: [
    "holdfast runs job/c1:ws1/nightly",
    "holdfast runs job/c1:ws1/nightly --follow",
    "holdfast runs job/c1:ws1/nightly nightly-3-1 -o json",
  ],
});
