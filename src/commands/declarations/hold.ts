import { declareCommand } from "../command.ts";

/** The declaration of `hold`. */
export const hold = declareCommand({
  name: "hold",
  arguments: "<what>",
  argumentsAre: "identity of a resource, a commit, or stage/ and the name of a stage",
  reportsMissing: true,
  summary: "keep the daemon from writing a resource, or from applying a commit, or any commit on a stage",
  flags: ["target", "reason", "until"],
  examples: [
    "holdfast hold service/c1:ws1/api --reason 'incident 12' --until 4h",
    "holdfast hold stage/production --reason 'incident 12' --until 4h",
  ],
});
