import { declareCommand } from "../command.ts";

/** The declaration of `explain`. */
export const explain = declareCommand({
  name: "explain",
  arguments: "<kind[.path]>",
  argumentsAre: "a kind of manifest, or config for holdfast.yaml, with the path of a field",
  summary: "explain a field: its type, unit, default, limits and known values, with an example",
  flags: ["output"],
  examples: ["holdfast explain service.resources.memory_request", "holdfast explain 'service.image(build)'"],
});
