import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `unlock`. */
export const unlock = declareCommand({
  name: "unlock",
  arguments: "",
  summary: "break the lease of a writer that has died, and show whose it was; refused while that writer is alive",
  flags: ["yes", "target", "leaseScope", "output", ...serverFlags],
  examples: ["holdfast unlock", "holdfast unlock --lease-scope prod-eu:ranking"],
});
