import { Command, CommanderError } from "commander";
import { exitCodes, worstExitCode } from "../core/errors.ts";
import { printableLines } from "../render/escape.ts";
import { wrapWords } from "../render/wrap.ts";
import { closestName, editDistance } from "../schema/closest-name.ts";
import { type CommandEntry, spelledFlags, toEntry } from "./command.ts";
import { adminToken } from "./declarations/admin-token.ts";
import { adopt } from "./declarations/adopt.ts";
import { apply } from "./declarations/apply.ts";
import { approve } from "./declarations/approve.ts";
import { audit } from "./declarations/audit.ts";
import { backup } from "./declarations/backup.ts";
import { comment } from "./declarations/comment.ts";
import { completion } from "./declarations/completion.ts";
import { conform } from "./declarations/conform.ts";
import { dashboard } from "./declarations/dashboard.ts";
import { disable } from "./declarations/disable.ts";
import { drift } from "./declarations/drift.ts";
import { explain } from "./declarations/explain.ts";
import { fmt } from "./declarations/fmt.ts";
import { forget } from "./declarations/forget.ts";
import { graph } from "./declarations/graph.ts";
import { history } from "./declarations/history.ts";
import { hold } from "./declarations/hold.ts";
import { importCommand } from "./declarations/import.ts";
import { init } from "./declarations/init.ts";
import { login } from "./declarations/login.ts";
import { logout } from "./declarations/logout.ts";
import { mcp } from "./declarations/mcp.ts";
import { newManifest } from "./declarations/new.ts";
import { orphans } from "./declarations/orphans.ts";
import { plan } from "./declarations/plan.ts";
import { policy } from "./declarations/policy.ts";
import { promote } from "./declarations/promote.ts";
import { reconcile } from "./declarations/reconcile.ts";
import { redeploy } from "./declarations/redeploy.ts";
import { release } from "./declarations/release.ts";
import { render } from "./declarations/render.ts";
import { resolve } from "./declarations/resolve.ts";
import { revoke } from "./declarations/revoke.ts";
import { runs } from "./declarations/runs.ts";
import { schema } from "./declarations/schema.ts";
import { secret } from "./declarations/secret.ts";
import { serve } from "./declarations/serve.ts";
import { simulate } from "./declarations/simulate.ts";
import { snapshot } from "./declarations/snapshot.ts";
import { state } from "./declarations/state.ts";
import { status } from "./declarations/status.ts";
import { token } from "./declarations/token.ts";
import { unlock } from "./declarations/unlock.ts";
import { user } from "./declarations/user.ts";
import { validate } from "./declarations/validate.ts";
import { watch } from "./declarations/watch.ts";
import { whoami } from "./declarations/whoami.ts";
import { why } from "./declarations/why.ts";
import { toHoldfastError } from "./errors/to-holdfast-error.ts";
import { readEnvironment, unknownVariables } from "./flags/environment.ts";
import { type Flags, flags as flagTable, generalFlags } from "./flags/flags.ts";
import { showFaults } from "./output/end-with-invalid-source.ts";
import { createWarnings } from "./output/warnings.ts";
import { columnsOn, endAfter, type ProcessTerminal, type RunEvents } from "./terminal.ts";

// The commands under the headings of the help.
const groups: { readonly [heading: string]: readonly CommandEntry[] } = {
  "Manifests:": [
    toEntry(init, () => import("./init.ts")),
    toEntry(validate, () => import("./validate.ts")),
    toEntry(plan, () => import("./plan.ts")),
    toEntry(apply, () => import("./apply.ts")),
    toEntry(approve, () => import("./approve.ts")),
    toEntry(drift, () => import("./drift.ts")),
    toEntry(importCommand, () => import("./import.ts")),
  ],
  "Writing manifests:": [
    toEntry(newManifest, () => import("./new.ts")),
    toEntry(explain, () => import("./explain.ts")),
    toEntry(fmt, () => import("./fmt.ts")),
    toEntry(graph, () => import("./graph.ts")),
    toEntry(policy, () => import("./policy.ts")),
    toEntry(render, () => import("./render.ts")),
    toEntry(runs, () => import("./runs.ts")),
    toEntry(schema, () => import("./schema.ts")),
    toEntry(secret, () => import("./secret.ts")),
  ],
  "Daemon:": [
    toEntry(watch, () => import("./watch.ts")),
    toEntry(status, () => import("./status.ts")),
    toEntry(dashboard, () => import("./dashboard.ts")),
    toEntry(history, () => import("./history.ts")),
    toEntry(why, () => import("./why.ts")),
    toEntry(reconcile, () => import("./reconcile.ts")),
    toEntry(hold, () => import("./hold.ts")),
    toEntry(release, () => import("./release.ts")),
  ],
  "Pull requests:": [
    toEntry(comment, () => import("./comment.ts")),
    toEntry(promote, () => import("./promote.ts")),
    toEntry(snapshot, () => import("./snapshot.ts")),
    toEntry(simulate, () => import("./simulate.ts")),
    toEntry(mcp, async () => {
      const { serveTools } = await import("./mcp.ts");
      return { run: (invocation) => serveTools(invocation, createProgram) };
    }),
  ],
  "Records and repairs:": [
    toEntry(adopt, () => import("./adopt.ts")),
    toEntry(orphans, () => import("./orphans.ts")),
    toEntry(forget, () => import("./forget.ts")),
    toEntry(resolve, () => import("./resolve.ts")),
    toEntry(redeploy, () => import("./redeploy.ts")),
    toEntry(unlock, () => import("./unlock.ts")),
    toEntry(state, () => import("./state.ts")),
  ],
  "Control plane:": [
    toEntry(serve, () => import("./serve.ts")),
    toEntry(audit, () => import("./audit.ts")),
    toEntry(backup, () => import("./backup.ts")),
    toEntry(adminToken, () => import("./admin-token.ts")),
    toEntry(revoke, () => import("./revoke.ts")),
    toEntry(disable, () => import("./disable.ts")),
    toEntry(user, () => import("./user.ts")),
    toEntry(login, () => import("./login.ts")),
    toEntry(logout, () => import("./logout.ts")),
    toEntry(whoami, () => import("./whoami.ts")),
    toEntry(conform, () => import("./conform.ts")),
    toEntry(token, () => import("./token.ts")),
  ],
  "Shell:": [
    toEntry(completion, async () => {
      const { completeWords } = await import("./completion.ts");
      const silent = { done: () => {} };
      return { run: (invocation) => completeWords(invocation, createProgram(invocation.terminal, silent)) };
    }),
  ],
};

/** The command line: every command with its flags; only commands that are among the words have theirs, if words are given. */
export function createProgram(terminal: ProcessTerminal, events: RunEvents, words?: readonly string[]): Command {
  const program = new Program("holdfast")
    .description("Keeps an ML-platform control plane equal to the manifests in a git repository.")
    .option("-V, --version", "show the version, the commit that it was built from, and Node's version")
    .on("option:version", () => {
      const commit = terminal.commit() ?? "unknown";
      terminal.stdout.write(`holdfast ${terminal.version} (commit ${commit}, Node ${process.version})\n`);
      throw new CommanderError(0, "commander.version", "the version was shown");
    })
    .helpCommand("help [command]", "show how a command is used")
    .showHelpAfterError("(holdfast --help shows the commands)")
    .configureOutput(outputOf(terminal))
    // Every command has options, so the list shows only its arguments.
    .configureHelp({ subcommandTerm: (command) => termOf(command.name()) })
    .exitOverride();
  for (const [heading, entries] of Object.entries(groups)) {
    for (const entry of entries) {
      // To make the flags of all would take each start ten milliseconds and more.
      const isAsked = words?.includes(entry.name) ?? true;
      const command = isAsked ? createCommand(entry, terminal, events) : namedCommand(entry);
      program.addCommand(command.helpGroup(heading));
    }
  }
  return program;
}

/** The commands that may be suggested for any similar word: they change nothing that a person would miss. */
const HARMLESS = [
  "validate",
  "plan",
  "drift",
  "status",
  "history",
  "why",
  "completion",
  "dashboard",
  "snapshot",
  "simulate",
  "new",
  "explain",
  "graph",
  "policy",
  "render",
  "orphans",
  "schema",
  "help",
];

/** A program that suggests a command that changes something only for a word that is almost its name. */
class Program extends Command {
  unknownCommand(): void {
    const [word = ""] = this.args;
    const names = this.commands.map((command) => command.name());
    const typed = names.find((name) => editDistance(word, name, 1) <= 1);
    const near = typed ?? closestName(word, HARMLESS);
    const guess = near === undefined ? "" : `\n(Did you mean ${near}?)`;
    this.error(`error: unknown command '${word}'${guess}`, { code: "commander.unknownCommand" });
  }
}

/** A command that may report a missing argument by itself, together with the flags that are missing. */
class ReportingCommand extends Command {
  readonly #reportsMissing: boolean;

  constructor({ name, reportsMissing = false }: CommandEntry) {
    super(name);
    this.#reportsMissing = reportsMissing;
  }

  missingArgument(name: string): void {
    if (!this.#reportsMissing)
      this.error(`error: missing required argument '${name}'`, { code: "commander.missingArgument" });
  }
}

function termOf(name: string): string {
  const entry = Object.values(groups)
    .flat()
    .find((one) => one.name === name);
  return `${name} ${entry?.arguments ?? "[command]"}`.trimEnd();
}

const SELECTING = "files and folders of the source to read (default: all)";

function namedCommand(entry: CommandEntry): Command {
  return new ReportingCommand(entry).summary(entry.summary).description(`${capitalised(entry.summary)}.`);
}

function createCommand(entry: CommandEntry, process: ProcessTerminal, { begun, done }: RunEvents): Command {
  const command = namedCommand(entry);
  const words = entry.arguments.split(" ").filter((word) => word !== "");
  for (const [at, word] of words.entries()) command.argument(word, [entry.argumentsAre ?? SELECTING].flat()[at]);
  for (const name of [...entry.flags, ...generalFlags]) command.addOption(flagTable[name].option());
  command
    .showHelpAfterError(`(holdfast ${entry.name} --help shows its flags)`)
    .addHelpText("after", `\nExamples:\n${entry.examples.map((example) => `  $ ${example}`).join("\n")}\n`)
    .copyInheritedSettings(new Command().exitOverride().configureOutput(outputOf(process)))
    .action(async () => {
      readEnvironment(command, process.env);
      const flags = command.opts<Flags>();
      endAfter(flags.timeout, process);
      const { run } = await entry.load();
      const warnings = createWarnings(process.stderr, { isStrict: flags.strict ?? false });
      begun?.(warnings);
      const invocation = {
        args: command.args,
        flags,
        terminal: { ...process, warnings },
        spelled: spelledFlags(command),
      };
      try {
        for (const unknown of unknownVariables(process.env)) warnings.addEarly(unknown);
        const code = await run(invocation);
        const isFailed = flags.strict === true && warnings.all().length > 0;
        done(isFailed ? worstExitCode([code, exitCodes.error]) : code);
      } catch (error) {
        showFaults(error, invocation);
        const failure = toHoldfastError(error);
        if (failure !== null && flags.output !== undefined) {
          const { writeFailureFiles } = await import("./output/write-outputs.ts");
          writeFailureFiles(invocation, failure);
        }
        throw error;
      }
    });
  return command;
}

function outputOf({ stdout, stderr }: ProcessTerminal): {
  writeOut: (text: string) => void;
  writeErr: (text: string) => void;
} {
  const layout = { indent: "", nextIndent: "  ", width: columnsOn(stderr) };
  const wrapped = (line: string): string => wrapWords(line, layout).join("\n");
  // Commander quotes the arguments, which may be file names with control characters that a shell expanded.
  return {
    writeOut: (text) => void stdout.write(printableLines(text)),
    writeErr: (text) => void stderr.write(printableLines(text).split("\n").map(wrapped).join("\n")),
  };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
