import { declareCommand } from "../command.ts";

/** The declaration of `hold`. */
export const hold = declareCommand({
  name: "hold",
  arguments: "<what>",
  argumentsAre: "identity of a resource, or a commit",
  reportsMissing: true,
  summary: "keep the daemon from writing a resource, or from applying a commit",
  flags: ["target", "reason", "until"],
  examples: ["holdfast hold service/c1:ws1/api --reason 'incident 12' --until 4h"],
});
