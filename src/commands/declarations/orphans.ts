import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `orphans`. */
export const orphans = declareCommand({
  name: "orphans",
  arguments: "",
  summary: "list what git no longer declares, as a checklist of what to remove on the platform",
  flags: ["target", "orphansOutput", "applied", "history", "writers", "allowShrink", ...serverFlags],
  examples: ["holdfast orphans", "holdfast orphans -o markdown | gh issue create --title Orphans --body-file -"],
});
