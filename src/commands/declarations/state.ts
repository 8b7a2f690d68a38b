import { declareCommand } from "../command.ts";

/** What `state` is called with. */
export const state = declareCommand({
  name: "state",
  arguments: "<action...>",
  argumentsAre: "check, export FOLDER, or import FOLDER",
  summary: "check what is remembered between runs, or move it to another machine",
  flags: ["output", "exportKeyFile"],
  examples: [
    "holdfast state check --state /state",
    "holdfast state export /backup/2026-11-30 --export-key-file export.key",
    "holdfast state import /backup/2026-11-30 --state /state --export-key-file export.key",
  ],
});
