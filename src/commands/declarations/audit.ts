import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `audit`. */
export const audit = declareCommand({
  name: "audit",
  arguments: "[action]",
  argumentsAre: "export, verify, or nothing to show it",
  summary: "show, export or verify the audit log of the control plane",
  flags: [
    "subject",
    "resource",
    "since",
    "follow",
    "checkpoint",
    "target",
    "data",
    "database",
    "output",
    ...serverFlags,
  ],
  examples: [
    "holdfast audit --since 2h --subject virtualaccount:ci",
    "holdfast audit --resource service/c1:ws1/api -o json",
    "holdfast audit --follow",
    "holdfast audit export --since 2026-11-01 > audit.jsonl",
    "holdfast audit verify --data /var/lib/holdfast --checkpoint audit.jsonl",
  ],
});
