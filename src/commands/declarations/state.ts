import { declareCommand } from "../command.ts";

/** The declaration of `state`. */
export const state = declareCommand({
  name: "state",
  arguments: "<action...>",
  argumentsAre: "check, export FOLDER, or import FOLDER",
  summary: "check, export or import what Holdfast remembers between runs",
  flags: ["output", "exportKeyFile"],
  examples: [
    "holdfast state check --state /state",
    "holdfast state export /backup/2026-11-30 --export-key-file export.key",
    "holdfast state import /backup/2026-11-30 --export-key-file export.key",
  ],
});
