import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags.ts";

/** What `unlock` is called with. */
export const unlock = declareCommand({
  name: "unlock",
  arguments: "",
  summary: "break the lease that a dead writer has left, and show whose it was; that of a live one stays",
  flags: ["yes", "target", "leaseScope", "output", ...serverFlags],
  examples: ["holdfast unlock", "holdfast unlock --lease-scope prod-eu:ranking"],
});
