import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `import`. */
export const importCommand = declareCommand({
  name: "import",
  arguments: "[kind/name...]",
  argumentsAre: "kinds, identities, or globs over these; with --update, files or identities (default: everything)",
  summary: "write manifests of what is live to files; writes nothing to the control plane",
  flags: ["into", "update", "force", "target", "exclude", "workspace", "strict", "partial", "output", ...serverFlags],
  examples: [
    "holdfast import --into platform",
    "holdfast import 'service/c1:ws1/*' team --into platform",
    "holdfast import --update service/c1:ws1/api",
  ],
});
