import { declareCommand } from "../command.ts";

/** The declaration of `reconcile`. */
export const reconcile = declareCommand({
  name: "reconcile",
  arguments: "",
  summary: "make the running daemon compare and apply now, and wait for it",
  flags: ["target", "output"],
  examples: ["holdfast reconcile --target prod"],
});
