import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `mcp`. */
export const mcp = declareCommand({
  name: "mcp",
  arguments: "",
  summary: "serve tools that read and propose to AI agents (Model Context Protocol); applies nothing",
  flags: [
    "listen",
    "mcpTokenFile",
    "plans",
    "snapshot",
    "target",
    "workspace",
    "strict",
    "partial",
    "writers",
    ...serverFlags.filter((name) => name !== "embedded"),
  ],
  examples: [
    "holdfast mcp --server https://control.example.com --token-file token",
    "holdfast mcp --plans ../plans --target staging",
    "holdfast mcp --listen 127.0.0.1:7075 --mcp-token-file mcp-token",
  ],
});
