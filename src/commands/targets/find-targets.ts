import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { realPathOutside } from "../../files/real-path.ts";
import { isTrackedFolder } from "../../source/git/is-tracked.ts";
import { hasSources, type OperatorConfig } from "../../source/read-config.ts";
import { readSourceConfig } from "../../source/read-source-config.ts";
import { contentAround, findSource, realRoot, sourceReason } from "../../source/source-root.ts";
import { requireStateFolder } from "../../state/require-state-folder.ts";
import type { Invocation } from "../command.ts";
import { honouredOperatorKeys } from "../configuration/honoured-operator-keys.ts";
import { stateDatabase } from "../configuration/state-database.ts";
import { attach, noServer, type ServerChoice } from "../connection/server-choice.ts";
import type { Flags } from "../flags/flags.ts";
import { isInteractive, say, type Terminal } from "../terminal.ts";
import { chooseTargets, type TargetChoice } from "./choose-targets.ts";
import { claimsOf } from "./claims.ts";
import {
  type CommandTarget,
  createTarget,
  requireValidConfig,
  type SharedByTargets,
  type TargetUse,
} from "./create-target.ts";

/** The targets of a command. */
export type FoundTargets = AsyncDisposable & {
  readonly targets: readonly CommandTarget[];
  /** The folder that contains the state folders of the targets. */
  readonly stateFolder: string;
  /** The database that has the states of the targets; null where each is in a folder. */
  readonly database: Secret | null;
  /** The operator keys that apply to all targets. */
  readonly operator: OperatorConfig;
};

/** The error of a command for one target when several targets are configured and none is named. */
export class TargetNeededError extends HoldfastError {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super("invalid", `there are ${names.length} targets, and none is named`, {
      hint: `name one with --target: ${names.join(", ")}`,
    });
    this.names = names;
  }
}

/** Finds the one target of a command; the first pass that needs them connects its server and opens its state. */
export async function findTarget(
  invocation: Invocation,
  use: TargetUse,
): Promise<CommandTarget & AsyncDisposable & { readonly stateFolder: string }> {
  const opened = await findTargets(invocation, use);
  const [target, other] = opened.targets;
  if (target === undefined || other !== undefined) {
    await opened[Symbol.asyncDispose]();
    throw new TargetNeededError(opened.targets.flatMap(({ choice }) => choice?.name ?? []));
  }
  const fault = target.choice?.fault ?? null;
  if (fault !== null) {
    await opened[Symbol.asyncDispose]();
    throw fault;
  }
  return { ...target, stateFolder: opened.stateFolder, [Symbol.asyncDispose]: opened[Symbol.asyncDispose] };
}

/** Finds the targets of a command: the one that `--target` names, else all configured ones, else the local folder. */
export async function findTargets(invocation: Invocation, use: TargetUse): Promise<FoundTargets> {
  const { flags, terminal } = invocation;
  const { cwd, stopping: signal } = terminal;
  const named = findSource({ cwd, source: flags.source });
  const root = realRoot(named);
  // The server and the state folder are chosen by the files in the folder, whichever commit is read.
  const { operatorFile } = use;
  const here = { root, cwd, configFile: flags.config, operatorFile, base: null, repository: null };
  const config = await readSourceConfig(here, { clock: terminal.clock, signal });
  // Without the file that --config names, it is unknown which folder is the source.
  const [, ...operatorFiles] = config.files;
  for (const file of use.reportsConfig ? operatorFiles : [config]) requireValidConfig(file.diagnostics);
  const prompt = { root, why: sourceReason({ cwd, source: flags.source }), mayAsk: !use.unattended };
  const operator = await honouredOperatorKeys(config.files, prompt, terminal);
  const database = stateDatabase(invocation, operator.state);
  const state = stateFolderOf(invocation, { root, configured: operator.state, database });
  const content = contentAround({ root, isFetched: config.files.some(hasSources) });
  const stateFolder = realPathOutside(content, state);
  keepTemporaryFilesIn(stateFolder);
  const choices = chooseTargets(operator, terminal);
  const chosen = namedIn(choices, flags.target);
  // Each pass checks only the state folder of its target; this checks the parent folder of them all.
  if (choices.length > 0) await requireStateFolder(stateFolder, { content, isTracked: isTrackedFolder, signal });
  const resources = new AsyncDisposableStack();
  const embedded = embeddedFinder(invocation, stateFolder, resources);
  const shared = {
    invocation,
    use,
    operator,
    root,
    named,
    config,
    stateFolder,
    database,
    embedded,
    resources,
    remotes: new Map(),
    limits: new Map(),
  };
  const targets =
    choices.length === 0 ? [createTarget(null, shared)] : createTargets(choices, shared).filter(isOneOf(chosen));
  return { targets, operator, stateFolder, database, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

// With a database, the folder has the caches, the repositories and the socket of this machine.
function stateFolderOf(
  { flags, terminal: { cwd } }: Invocation,
  { root, configured, database }: { root: string; configured: string | null | undefined; database: Secret | null },
): string {
  if (database !== null) return resolve(root, ".holdfast");
  return flags.state === undefined ? resolve(root, configured ?? ".holdfast") : resolve(cwd, flags.state);
}

// Where the root of the file system is read-only, as in a container, the state is often the only volume. Programs that
// are started look at the same variable.
function keepTemporaryFilesIn(folder: string): void {
  if (!isWritable(tmpdir()) && isWritable(folder)) process.env.TMPDIR = folder;
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

// Creates all targets, also those not selected, because no two may declare the same resource.
function createTargets(choices: readonly TargetChoice[], shared: SharedByTargets): readonly CommandTarget[] {
  const targets = choices.map((choice) => ({ choice, target: createTarget(choice, shared) }));
  // Without a server, nothing says which targets may not declare the same.
  const usable = targets.filter(({ choice }) => choice.fault === null);
  const claimants = usable.map(({ choice, target }) => {
    return [choice.name, { target, server: (choice.server ?? "").replace(/\/+$/, "") }] as const;
  });
  const claims = claimsOf(new Map(claimants), shared.invocation.terminal);
  return targets.map(({ choice, target }) => ({ ...target, ...claims(choice.name) }));
}

function isOneOf(choices: readonly TargetChoice[]): (target: CommandTarget) => boolean {
  return ({ choice }) => choices.some(({ name }) => name === choice?.name);
}

function namedIn(choices: readonly TargetChoice[], name: string | undefined): readonly TargetChoice[] {
  if (name === undefined) return choices;
  const found = choices.filter((choice) => choice.name === name);
  if (found.length > 0) return found;
  const names = choices.map((choice) => choice.name).join(", ");
  throw new HoldfastError("invalid", `there is no target ${name}`, {
    hint: names === "" ? "targets are declared in the operator's configuration (--config)" : `there are: ${names}`,
  });
}

/** Returns a function that finds the embedded control plane of a state folder, or starts it once for all targets. */
function embeddedFinder(
  invocation: Invocation,
  folder: string,
  resources: AsyncDisposableStack,
): () => Promise<ServerChoice> {
  const { flags, terminal } = invocation;
  let finding: Promise<ServerChoice> | null = null;
  let isAnnounced = false;
  const find = async (): Promise<ServerChoice> => {
    const attached = await attach(folder, { clock: terminal.clock, signal: terminal.stopping });
    if (attached !== null) {
      if (!flags.embedded && !isAnnounced) say(terminal, `using the embedded control plane at ${attached.url}`);
      isAnnounced = true;
      // Looked up again on the next call, because the process that serves it may end.
      finding = null;
      return attached;
    }
    if (!flags.embedded) throw noServer(flags, terminal);
    // Loaded here, so that a command that attaches to it does not load the server.
    const { startEmbedded } = await import("../connection/start-embedded.ts");
    const { terminalLog } = await import("../output/terminal-log.ts");
    return resources.use(await startEmbedded(folder, terminalLog(invocation), terminal)).choice;
  };
  return () => {
    finding ??= find();
    return finding;
  };
}

/** Refuses to write to a target with `confirm: true`, unless a person types its name or `--confirm` gives it. */
export async function requireTargetConfirmed(
  { choice }: CommandTarget,
  { confirm }: Flags,
  terminal: Terminal,
): Promise<void> {
  if (choice === null || !choice.confirm) return;
  const given = confirm ?? (isInteractive(terminal) ? await ask(choice.name, terminal) : null);
  if (given === choice.name) return;
  const why = given === null ? "and there is no terminal to type it in" : `and ${JSON.stringify(given)} differs`;
  throw new HoldfastError("invalid", `target ${choice.name} requires its name as confirmation, ${why}`, {
    hint: `nothing was written; run it with --confirm ${choice.name}`,
  });
}

async function ask(name: string, { stdin, stderr, stopping }: Terminal): Promise<string> {
  const prompt = createInterface({ input: stdin, output: stderr });
  try {
    const ended = new Promise<string>((done) => prompt.once("close", () => done("")));
    const question = prompt.question(`Type the target's name (${name}) to write to it: `, { signal: stopping });
    return (await Promise.race([question, ended])).trim();
  } finally {
    prompt.close();
  }
}
