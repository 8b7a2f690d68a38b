import { Command } from "commander";
import { printableLines } from "../render/escape.ts";
import type { CommandEntry } from "./command.ts";
import type { Flags } from "./flags.ts";
import { addFlags, readEnvironment, serverFlags, sourceFlags } from "./options.ts";
import { endAfter, type Terminal } from "./terminal.ts";

const entries: readonly CommandEntry[] = [
  {
    name: "validate",
    arguments: "[path...]",
    summary: "check manifests offline: schema, identities, references, cycles",
    flags: ["output", ...sourceFlags],
    examples: ["holdfast validate", "holdfast validate services/api.yaml -o json"],
    load: () => import("./validate.ts"),
  },
  {
    name: "plan",
    arguments: "[path...]",
    summary: "show what apply would do, and why; changes nothing",
    flags: ["output", "out", "base", "show", "detailedExitcode", "allowShrink", "sink", ...sourceFlags, ...serverFlags],
    examples: ["holdfast plan --embedded", "holdfast plan --base origin/main --out plan.json"],
    load: () => import("./plan.ts"),
  },
  {
    name: "apply",
    arguments: "[path...]",
    summary: "make live follow the manifests",
    flags: [
      "yes",
      "plan",
      "output",
      "wait",
      "noWait",
      "failFast",
      "allowShrink",
      "sink",
      "leaseScope",
      ...sourceFlags,
      ...serverFlags,
    ],
    examples: ["holdfast apply --yes", "holdfast apply --plan plan.json"],
    load: () => import("./apply.ts"),
  },
  {
    name: "drift",
    arguments: "[path...]",
    summary: "show what moved in live behind git's back; never writes",
    flags: ["output", "base", "detailedExitcode", "noDetailedExitcode", "allowShrink", ...sourceFlags, ...serverFlags],
    examples: ["holdfast drift", "holdfast drift -o json --no-detailed-exitcode"],
    load: () => import("./drift.ts"),
  },
  {
    name: "watch",
    arguments: "[path...]",
    summary: "keep live true to the manifests: on every change, and on an interval",
    flags: ["interval", "yes", "wait", "noWait", "allowShrink", "sink", "leaseScope", ...sourceFlags, ...serverFlags],
    examples: ["holdfast watch --embedded", "holdfast watch --interval 300 --sink file"],
    load: () => import("./watch.ts"),
  },
  {
    name: "serve",
    arguments: "",
    summary: "run the control plane itself",
    flags: [
      "host",
      "port",
      "data",
      "database",
      "seed",
      "snapshot",
      "tokenFile",
      "caFile",
      "names",
      "artifactRoot",
      "documentedOnly",
      "unknownFields",
      "rolloutSeconds",
      "tlsCert",
      "tlsKey",
      "rateLimit",
      "maxLeaseSeconds",
      "drainSeconds",
      "renewSigningKey",
      "revoke",
    ],
    examples: [
      "holdfast serve --port 0 --data /var/lib/holdfast",
      "holdfast serve --documented-only --seed manifests",
      "holdfast serve --snapshot https://platform.example.com --token-file token",
    ],
    load: () => import("./serve.ts"),
  },
  {
    name: "backup",
    arguments: "<file>",
    argumentsAre: "the copy, which must not be there yet",
    summary: "copy the control plane's data to a file, also while it runs",
    flags: ["data", "database"],
    examples: ["holdfast backup --data /var/lib/holdfast /backup/2026-11-30.db"],
    load: () => import("./backup.ts"),
  },
  {
    name: "revoke",
    arguments: "<subject...>",
    argumentsAre: "whose tokens, such as virtualaccount:ci or user:dev@example.com",
    summary: "make tokens void, also while the control plane runs",
    flags: ["data", "database"],
    examples: ["holdfast revoke virtualaccount:ci --data /var/lib/holdfast"],
    load: () => import("./revoke.ts"),
  },
];

/** The command line: every command with its flags; running one calls `done` with its exit code. */
export function createProgram(terminal: Terminal, version: string, done: (exitCode: number) => void): Command {
  const program = new Command("holdfast")
    .description("Keeps an ML-platform control plane true to a git repository.")
    .version(version)
    .helpCommand("help [command]", "show how a command is used")
    .showHelpAfterError("(holdfast --help shows the commands)")
    .configureOutput(outputOf(terminal))
    .exitOverride();
  for (const entry of entries) program.addCommand(createCommand(entry, terminal, done));
  return program;
}

const SELECTING = "files and folders, to select within the source";

function createCommand(entry: CommandEntry, terminal: Terminal, done: (exitCode: number) => void): Command {
  const command = new Command(entry.name).summary(entry.summary).description(`${capitalised(entry.summary)}.`);
  if (entry.arguments !== "") command.argument(entry.arguments, entry.argumentsAre ?? SELECTING);
  addFlags(command, entry.flags)
    .showHelpAfterError(`(holdfast ${entry.name} --help shows its flags)`)
    .addHelpText("after", `\nExamples:\n${entry.examples.map((example) => `  $ ${example}`).join("\n")}\n`)
    .copyInheritedSettings(new Command().exitOverride().configureOutput(outputOf(terminal)))
    .action(async () => {
      readEnvironment(command, terminal.env);
      const flags = command.opts<Flags>();
      endAfter(flags.timeout, terminal);
      const { run } = await entry.load();
      done(await run({ args: command.args, flags, terminal }));
    });
  return command;
}

function outputOf({ stdout, stderr }: Terminal): {
  writeOut: (text: string) => void;
  writeErr: (text: string) => void;
} {
  // Commander quotes what was typed, which a shell may have made of the names of files.
  return {
    writeOut: (text) => void stdout.write(printableLines(text)),
    writeErr: (text) => void stderr.write(printableLines(text)),
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
