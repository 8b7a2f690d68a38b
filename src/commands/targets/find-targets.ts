import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Stop } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { realPathOutside } from "../../files/real-path.ts";
import { globMatcher } from "../../model/glob.ts";
import { isTrackedFolder } from "../../source/git/is-tracked.ts";
import { hasSources, type OperatorConfig } from "../../source/read-config.ts";
import { readSourceConfig } from "../../source/read-source-config.ts";
import type { RemoteWithBackoff } from "../../source/remote/with-backoff.ts";
import { contentAround, findSource, realRoot, sourceReason } from "../../source/source-root.ts";
import { databaseClaims } from "../../state/open-state.ts";
import { requireStateFolder } from "../../state/require-state-folder.ts";
import type { TargetState } from "../../state/state.ts";
import type { Invocation } from "../command.ts";
import { honouredOperatorKeys } from "../configuration/honoured-operator-keys.ts";
import { requireSignIn } from "../configuration/sign-in-settings.ts";
import { stateDatabase } from "../configuration/state-database.ts";
import { attach, noServer, type ServerChoice } from "../connection/server-choice.ts";
import type { Flags } from "../flags/flags.ts";
import { createWarnings } from "../output/warnings.ts";
import { isInteractive, say, type Terminal } from "../terminal.ts";
import { requireOrder, requirePromotions } from "./check-order.ts";
import { type ChosenSources, chooseSources, chooseTarget, type TargetChoice } from "./choose-targets.ts";
import { type Claims, createClaims, type OwnClaims } from "./claims.ts";
import { requireKnownOrigins } from "./configured-gates.ts";
import { expandedOf, patternsOf, type TargetPatterns } from "./configured-patterns.ts";
import { placesOfTargets } from "./configured-places.ts";
import {
  type CommandTarget,
  createTarget,
  requireValidConfig,
  type SharedByTargets,
  type TargetUse,
} from "./create-target.ts";
import type { TargetEntry } from "./expand-pattern.ts";
import type { Expanded } from "./expand-targets.ts";
import { createFleetClaims } from "./fleet-claims.ts";
import { serverLimits, serverNameOf } from "./server-of-target.ts";
import { type StageOrders, stageOrders } from "./stage-orders.ts";
import { readStateKey, targetState } from "./target-state.ts";

/** The targets of a command. */
export type FoundTargets = AsyncDisposable & {
  readonly targets: readonly CommandTarget[];
  readonly orders: StageOrders;
  /** The folder that contains the state folders of the targets. */
  readonly stateFolder: string;
  /** The database that has the states of the targets; null where each is in a folder. */
  readonly database: Secret | null;
  /** The state that belongs to the configuration; where it names no targets, that of the only one. */
  readonly state: TargetState;
  /** The operator keys that apply to all targets. */
  readonly operator: OperatorConfig;
  /** The patterns of targets; null if there are none. */
  readonly patterns: TargetPatterns | null;
  /** Creates one of the targets again, only to be read until a signal is aborted, with connections of its own. */
  readonly reader: (target: CommandTarget, stop: Stop) => CommandTarget;
};

/** The error of a command for one target when several targets are configured and none is named. */
export class TargetNeededError extends HoldfastError {
  readonly names: readonly string[];

  constructor(names: readonly string[], named?: string) {
    const why = named === undefined ? "and none is named" : `and --target ${named} names them all`;
    super("invalid", names.length === 0 ? "there are no targets" : `there are ${names.length} targets, ${why}`, {
      hint: names.length === 0 ? "the patterns of `targets` find none" : `name one with --target: ${listed(names)}`,
    });
    this.names = names;
  }
}

const MAX_LISTED = 20;

function listed(names: readonly string[]): string {
  const left = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(", ") + (left > 0 ? ` and ${left} more` : "");
}

/** The error where a retired target is named and cannot be used. */
export function retiredTarget(name: string): HoldfastError {
  return new HoldfastError("invalid", `target ${name} is retired: its pattern no longer stands for it`, {
    hint: `its state is kept, and it continues once it is back; holdfast orphans --target ${name} lists what it left`,
  });
}

/** Finds the one target of a command; the first pass that needs them connects its server and opens its state. */
export async function findTarget(
  invocation: Invocation,
  use: TargetUse,
): Promise<CommandTarget & AsyncDisposable & { readonly stateFolder: string }> {
  await using resources = new AsyncDisposableStack();
  const opened = resources.use(await findTargets(invocation, use));
  const target = usableTarget(onlyTarget(opened, invocation.flags), use);
  const kept = resources.move();
  return { ...target, stateFolder: opened.stateFolder, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** The only target of those that were found. */
export function onlyTarget({ targets }: FoundTargets, { target: named }: Invocation["flags"]): CommandTarget {
  // Retired targets count only where one is named.
  const active = targets.filter(({ choice }) => !choice?.isRetired);
  const [target, other] = active.length === 0 ? targets : active;
  if (target !== undefined && other === undefined) return target;
  throw new TargetNeededError(
    active.flatMap(({ choice }) => choice?.name ?? []),
    named,
  );
}

/** Refuses a target that cannot be used. */
export function usableTarget(target: CommandTarget, { allowsRetired }: TargetUse): CommandTarget {
  const fault = target.choice?.fault ?? null;
  if (fault !== null) throw fault;
  if (target.choice?.isRetired && !allowsRetired) throw retiredTarget(target.name);
  return target;
}

/** Finds the targets of a command: the one that `--target` names, else all configured ones, else the local folder. */
export async function findTargets(invocation: Invocation, use: TargetUse): Promise<FoundTargets> {
  const { flags, terminal, shared: reads } = invocation;
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
  requireSignIn(operator);
  const database = stateDatabase(invocation, operator.state);
  const state = stateFolderOf(invocation, { root, configured: operator.state, database });
  const content = contentAround({ root, isFetched: config.files.some(hasSources) });
  const stateFolder = realPathOutside(content, state);
  keepTemporaryFilesIn(stateFolder);
  const chosen = chooseSources(operator, terminal, placesOfTargets(config.files));
  // Each pass checks only the state folder of its target; this checks the parent folder of them all.
  if (chosen.entries.length > 0) await requireStateFolder(stateFolder, { content, isTracked: isTrackedFolder, signal });
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
    choices: [],
    database,
    embedded,
    resources,
    remotes: reads?.remotes ?? new Map<string, RemoteWithBackoff>(),
    limits: await serverLimits(database, invocation, resources),
    orders: null,
    following: { check: async () => {}, gone: new Set<string>() },
  };
  const dispose = () => resources.disposeAsync();
  const opened = { operator, stateFolder, database, [Symbol.asyncDispose]: dispose };
  if (chosen.entries.length === 0) {
    const alone = createTarget(null, shared);
    // Where the configuration with the targets is missing, so are their patches and gates.
    if (flags.target !== undefined && !globMatcher(flags.target)(alone.name)) throw unknownTarget(flags.target, []);
    const orders = stageOrders([], () => createTarget(null, shared), terminal);
    return { ...opened, state: alone.state, targets: [alone], orders, patterns: null, reader: readerOf(shared) };
  }
  const expanded = await expandedOf(chosen, shared);
  const choices = choicesOf(expanded, chosen, shared);
  const selected = namedIn(choices, flags.target);
  requireKnownOrigins(choices, chosen.placeOf);
  const reading = { ...shared, invocation: withoutSelection(invocation), use: readingUse(use) };
  const active = choices.filter(({ isRetired }) => !isRetired);
  requireOrder(active, chosen);
  requirePromotions(operator, choices, chosen, config.files);
  const orders = stageOrders(choices, (choice) => createTarget(choice, { ...reading, choices }), terminal);
  const targets = createTargets(selected, { ...shared, orders, choices });
  const patterns = patternsOf(expanded, chosen, shared);
  // Nothing in it is sealed, so that processes with different keys share it.
  const place = { folder: stateFolder, target: null, database, isUnsealed: true } as const;
  const reader = readerOf({ ...shared, choices });
  return { ...opened, state: resources.use(targetState(place, invocation)), targets, orders, patterns, reader };
}

function readerOf(shared: SharedByTargets): FoundTargets["reader"] {
  const { flags, terminal, ...others } = withoutSelection(shared.invocation);
  return ({ choice }, { signal }) => {
    const resources = new AsyncDisposableStack();
    const ended = AbortSignal.any([terminal.stopping, signal]);
    const invocation = {
      ...others,
      // Errors of other manifests do not concern the asked one.
      flags: { ...flags, partial: true },
      terminal: { ...terminal, stopping: ended, signal: ended, warnings: createWarnings(terminal.stderr) },
    };
    // A remote that is not followed stays at the commit that it was fetched at first.
    const remotes = shared.use.follows ? shared.remotes : new Map();
    const target = createTarget(choice, { ...shared, invocation, use: readingUse(shared.use), remotes, resources });
    return { ...target, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  };
}

// The other targets are read as a whole, whatever a command selects of its own.
function withoutSelection({ flags, ...invocation }: Invocation): Invocation {
  const { only: _, kind: __, exclude: ___, base: ____, applied: _____, ...others } = flags;
  return { ...invocation, args: [], flags: others };
}

function readingUse(use: TargetUse): TargetUse {
  return { ...use, reading: true, unattended: true };
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

// The others count too, because no two targets may declare the same resource.
function createTargets(selected: readonly TargetChoice[], shared: SharedByTargets): readonly CommandTarget[] {
  const created = new Map<string, CommandTarget>();
  const create = (choice: TargetChoice): CommandTarget => {
    const target = created.get(choice.name) ?? createTarget(choice, shared);
    created.set(choice.name, target);
    return target;
  };
  const targets = selected.map((choice) => ({ choice, target: create(choice) }));
  const serverOf = (choice: TargetChoice): string => serverNameOf(choice, shared.operator, shared.invocation);
  // Where processes share the passes, another one may run them.
  const areOwn = shared.invocation.flags.workers === undefined;
  // Without a server, nothing says which targets may not declare the same.
  const usable = shared.choices.filter(({ fault, isRetired }) => fault === null && !isRetired);
  const claimants = usable.map((choice) => {
    const claimant = {
      target: () => create(choice),
      server: serverOf(choice),
      isRun: areOwn && selected.includes(choice),
      hasPasses: choice.sync !== "off",
    };
    return [choice.name, claimant] as const;
  });
  const { shared: reads, terminal } = shared.invocation;
  const own = reads?.claims ?? createClaims(terminal);
  if (reads !== undefined) reads.claims = own;
  const claims = sharedClaims(own, shared) ?? own;
  claims.setClaimants(new Map(claimants));
  return targets.map(({ choice, target }) => ({ ...target, ...claims.of(choice.name, serverOf(choice)) }));
}

// The passes of a fleet record what they declare. Commands beside it read the sources, since they record nothing.
function sharedClaims(own: OwnClaims, { database, use, invocation, resources }: SharedByTargets): Claims | null {
  const { flags, terminal } = invocation;
  if (database === null || flags.workers === undefined || !use.follows) return null;
  const { clock, random, stopping } = terminal;
  const options = { clock, random, stopping, readKey: () => readStateKey(terminal) };
  return createFleetClaims(resources.use(databaseClaims(database, options)), own);
}

function choicesOf(
  expanded: Expanded,
  chosen: ChosenSources,
  { invocation }: SharedByTargets,
): readonly TargetChoice[] {
  const choiceOf = (entry: TargetEntry): TargetChoice => chooseTarget(entry, chosen, invocation.terminal);
  const retired = expanded.retired.map((entry) => ({ ...choiceOf(entry), isRetired: true }));
  return [...expanded.entries.map(choiceOf), ...retired];
}

function namedIn(choices: readonly TargetChoice[], name: string | undefined): readonly TargetChoice[] {
  if (name === undefined) return choices;
  const isNamed = globMatcher(name);
  const found = choices.filter((choice) => isNamed(choice.name));
  if (found.length > 0) return found;
  throw unknownTarget(name, choices);
}

function unknownTarget(name: string, choices: readonly TargetChoice[]): HoldfastError {
  const names = listed(choices.map((choice) => choice.name));
  const hint = names === "" ? "targets are declared in the operator's configuration (--config)" : `there are: ${names}`;
  return new HoldfastError("invalid", `there is no target ${name}`, { hint });
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
