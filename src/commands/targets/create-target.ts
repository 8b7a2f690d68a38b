import { join, resolve } from "node:path";
import { sourceCache } from "../../cache/source-facts-cache.ts";
import { canonical } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";
import { hasErrors } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import { freezeSchedule } from "../../core/guards/freeze-windows.ts";
import { decisionsAt, holdOn, isReleased } from "../../core/holds.ts";
import type { CommitOrder } from "../../engine/order/target-order.ts";
import type { Target } from "../../engine/target.ts";
import { type AppliedRef, publishedRefOf } from "../../source/git/applied-commit.ts";
import type { ConfigFile, OperatorConfig } from "../../source/read-config.ts";
import type { CommitSource } from "../../source/read-source.ts";
import type { Base, SourceConfig } from "../../source/read-source-config.ts";
import type { RemoteWithBackoff } from "../../source/remote/with-backoff.ts";
import { RetiredError } from "../../source/source-error.ts";
import { NO_FOLDERS } from "../../source/source-root.ts";
import type { TargetState } from "../../state/state.ts";
import type { Invocation } from "../command.ts";
import { connectOnDemand } from "../connection/connect-on-demand.ts";
import type { ServerUse } from "../connection/open-connection.ts";
import { approvalsPath } from "../input/read-signed-plan.ts";
import { withTarget } from "../output/log-stream.ts";
import { printedOn, type Terminal } from "../terminal.ts";
import { approvalsIn, type TargetChoice } from "./choose-targets.ts";
import { chooseCommit, heldCommit, isWatching, orderIn } from "./commit-choice.ts";
import { rulesOf } from "./pass-rules.ts";
import { invocationFor, limitOf, operatorKeysOf, type ServerLimits } from "./server-of-target.ts";
import type { StageOrders } from "./stage-orders.ts";
import { targetGates } from "./target-gates.ts";
import { remoteOf, type TargetsFollowing } from "./target-remote.ts";
import { holdsIn, targetState } from "./target-state.ts";

/** How a command uses its target. */
export type TargetUse = Omit<ServerUse, "operator" | "embedded" | "limit"> & {
  /** Whether the commit of `--base` is compared with the folder, or read instead of it. @default "compare" */
  readonly base?: Base["use"];
  /**
   * Whether errors of the source's own configuration are reported with the other diagnostics instead of refused.
   * @default false
   */
  readonly reportsConfig?: boolean;
  /** The operator's configuration file as it was when the targets were opened; passes use it without reading it again. */
  readonly operatorFile?: ConfigFile | undefined;
  /** Whether passes follow, each of which asks the sources for their newest commit. @default false */
  readonly follows?: boolean;
  /** Whether the targets are those of the last command that wrote, where that is known. @default false */
  readonly usesRecordedTargets?: boolean;
  /** Whether the command is for retired targets too. @default false */
  readonly allowsRetired?: boolean;
  /** Whether the command does not need the commit, so that it works without git. @default false */
  readonly isCommitOptional?: boolean;
};

/** How a command uses the targets when it asks only for what is recorded of them. */
export const RECORDED_TARGETS = { reading: true, unattended: true, usesRecordedTargets: true } as const;

/** A target of a command. */
export type CommandTarget = Target &
  AsyncDisposable & {
    /** Its name in the operator's configuration; `default` if that names no targets. */
    readonly name: string;
    /** Its entry in the operator's configuration; null if that names no targets. */
    readonly choice: TargetChoice | null;
    /** The repository that the target follows; null for the local folder. */
    readonly remote: RemoteWithBackoff | null;
  };

/** The values that the targets of one command share. */
export type SharedByTargets = {
  readonly invocation: Invocation;
  readonly use: TargetUse;
  readonly operator: OperatorConfig;
  readonly root: string;
  /** The path of the root as the user named it, links unresolved. */
  readonly named: string;
  readonly config: SourceConfig;
  readonly stateFolder: string;
  /** The configured targets, of which the command may have chosen some. */
  readonly choices: readonly TargetChoice[];
  /** The database that has the states of the targets; null where each is in a folder. */
  readonly database: Secret | null;
  readonly embedded: ServerUse["embedded"];
  /** The order of the targets; null for targets that are only read for the order of others. */
  readonly orders: StageOrders | null;
  /** The open remotes, by the name of their source. */
  readonly remotes: Map<string, RemoteWithBackoff>;
  /** The limits of the control planes that have an entry of `servers`. */
  readonly limits: ServerLimits;
  /** How the targets of patterns are followed. */
  readonly following: TargetsFollowing;
  readonly resources: AsyncDisposableStack;
};

/** Creates a target from its configuration entry, or for the local folder if there is none. */
export function createTarget(choice: TargetChoice | null, shared: SharedByTargets): CommandTarget {
  const { use, root, named, config, stateFolder, resources } = shared;
  const invocation = logged(choice === null ? shared.invocation : invocationFor(choice, shared.invocation), choice);
  const { flags, terminal } = invocation;
  const remote = choice?.source ? remoteOf(choice.source, shared) : null;
  if (remote !== null) refuseFolderFlags(invocation);
  const folder = choice === null ? stateFolder : join(stateFolder, "targets", choice.name);
  const place = { folder, target: choice?.name ?? null, database: shared.database };
  const state = resources.use(targetState(place, invocation));
  const operator = { ...shared.operator, ...operatorKeysOf(choice) };
  const order = choice === null ? null : orderIn(choice, state, shared);
  const isRemote = remote !== null && choice !== null;
  const chooser = isWatching(choice, use) ? order : null;
  const { following } = shared;
  const newest = isRemote ? newestOf(remote, { target: choice.name, state, terminal, chooser, following }) : null;
  const commits = newest?.commits ?? null;
  const server = connectOnDemand(invocation, state, {
    ...use,
    operator,
    limit: limitOf(choice, shared),
    embedded: shared.embedded,
  });
  resources.use(server);
  return {
    name: nameOf(choice),
    choice,
    remote,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
    },
    source: {
      root: named,
      cwd: terminal.cwd,
      configFile: flags.config,
      operatorFile: use.operatorFile,
      base: baseOf(invocation, { choice, use }),
      applied: appliedOf(flags, choice),
      commits,
      paths: choice?.paths ?? undefined,
      patches: choice?.patches ?? NO_FOLDERS,
      config,
      isCommitOptional: use.isCommitOptional ?? false,
      ignore: plansOf(invocation),
      warnings: terminal.warnings.all,
      accept: acceptor(config, use, { isCommitted: remote !== null }),
      isRetired: choice?.isRetired ?? false,
    },
    sourceCache: state.caches ? sourceCache(named, state, terminal.clock) : null,
    server,
    state,
    holds: holdsIn(state, { now: terminal.clock.now, proposes: choice?.driftHold != null }),
    ...(choice === null || choice.windows.length === 0 ? {} : { freezes: freezeSchedule(choice.windows) }),
    ...(choice === null || choice.gates.length === 0 ? {} : { gates: targetGates(choice, state, shared) }),
    ...(order === null ? {} : { order }),
    ...(operator.modelRoot === undefined ? {} : { modelRoot: resolve(terminal.cwd, operator.modelRoot) }),
    rules: withDecisions(
      rulesOf(invocation, {
        root: remote === null ? root : null,
        writers: flags.writers ?? operator.writers ?? [],
        approvals: choice?.approvals ?? approvalsIn(operator),
        heals: choice?.sync === "heal",
        rename: choice?.rename ?? null,
        patches: choice?.patches.own ?? null,
        places: choice?.places ?? {},
      }),
      choice?.isRetired ? () => true : (newest?.isReleased ?? (() => false)),
    ),
  };
}

function nameOf(choice: TargetChoice | null): string {
  return choice?.name ?? "default";
}

// In a log, what is said of the connection and the state names the target.
function logged(invocation: Invocation, choice: TargetChoice | null): Invocation {
  const { terminal } = invocation;
  const stderr = withTarget(terminal.stderr, nameOf(choice));
  return stderr === null ? invocation : { ...invocation, terminal: printedOn(stderr, terminal) };
}

function baseOf(
  { flags }: Invocation,
  { choice, use }: { readonly choice: TargetChoice | null; readonly use: TargetUse },
): Base | null {
  if (flags.base === undefined) return null;
  return { ref: flags.base, use: use.base ?? "compare", applied: appliedOf(flags, choice) ?? undefined };
}

function appliedOf({ applied }: Invocation["flags"], choice: TargetChoice | null): AppliedRef | null {
  if (applied !== undefined) return { ref: applied, isNamed: true };
  return choice === null ? null : { ref: publishedRefOf(choice.name), isNamed: false };
}

// These flags choose a local folder; a target that follows a repository has none.
function refuseFolderFlags({ flags }: Invocation): void {
  const given = { "--source": flags.source, "--base": flags.base, "--ref": flags.ref };
  const [flag] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined) return;
  throw new HoldfastError("invalid", `${flag} is for a local folder, and this target follows a git repository`, {
    hint: "leave it out, or use a checkout without targets",
  });
}

// Releases take effect with the next pass.
function withDecisions(rulesBy: Target["rules"], isNewestReleased: () => boolean): Target["rules"] {
  return (config) => {
    const rules = rulesBy(config);
    return { ...rules, allowShrink: rules.allowShrink || isNewestReleased() };
  };
}

type Following = {
  readonly target: string;
  readonly state: TargetState;
  readonly terminal: Terminal;
  /** Chooses the commit of a daemon; null where the newest is read. */
  readonly chooser: CommitOrder | null;
  readonly following: TargetsFollowing;
};

type NewestCommit = {
  readonly commits: CommitSource;
  /** Whether the newest commit was released when it was read. */
  readonly isReleased: () => boolean;
};

function newestOf(remote: RemoteWithBackoff, { target, state, terminal, chooser, following }: Following): NewestCommit {
  const { signal, clock } = terminal;
  let newest: string | null = null;
  let isNewestReleased = false;
  const commits: CommitSource = {
    repository: remote.repository,
    resolve: async (stop) => {
      newest = (await remote.fetch(stop)).commit;
      if (following.gone.has(target)) throw new RetiredError();
      const store = await state.target();
      const decided = decisionsAt(await store.decisions(), clock.now());
      const hold = holdOn(decided, newest);
      if (hold !== null) throw heldCommit(remote.name, newest, hold);
      const chosen =
        chooser === null ? newest : await chooseCommit(chooser, remote, { store, newest, terminal, ...stop });
      isNewestReleased = isReleased(decided, chosen);
      return chosen;
    },
    newest: () => newest,
    keep: (commit) => remote.keep(target, commit, { signal }),
    kept: async (stored) => {
      // It would be other content, which nothing has let through.
      if (chooser !== null && (await chooser.isReconfigured())) return null;
      // An earlier release kept it only as a ref of the repository.
      const commit = stored ?? (await remote.kept(target, { signal }));
      return commit !== null && (await remote.has(commit, { signal })) ? commit : null;
    },
    onUnreadable: remote.discard,
    deepen: remote.deepen,
    retryNow: remote.retryNow,
  };
  return { commits, isReleased: () => isNewestReleased };
}

// The server and the state folder were chosen by the first operator keys, so a later change of them is refused.
function acceptor(
  first: SourceConfig,
  { reportsConfig }: TargetUse,
  { isCommitted }: { readonly isCommitted: boolean },
): (config: SourceConfig) => void {
  const keysOf = ({ files }: SourceConfig): string =>
    operatorKeysIn(isCommitted ? files.filter(({ file, isInSource }) => file !== null && !isInSource) : files);
  const accepted = keysOf(first);
  return (config) => {
    if (!reportsConfig) requireValidConfig(config.diagnostics);
    if (isCommitted) refuseOperatorKeys(config);
    if (keysOf(config) === accepted) return;
    const files = config.files.flatMap(({ file }) => file ?? []).join(", ");
    throw new HoldfastError("invalid", `the operator keys in ${files || "the configuration"} have changed`, {
      hint: "take that back, or start again: they hold for as long as a command runs",
    });
  };
}

// Nobody confirms the operator keys of a commit, so a commit may not set any.
function refuseOperatorKeys({ files }: SourceConfig): void {
  const found = files.find(({ isInSource, operatorKeys }) => isInSource && operatorKeys.length > 0);
  if (found === undefined) return;
  throw new HoldfastError("invalid", `the commit's ${found.file} sets ${found.operatorKeys.join(", ")}`, {
    hint: "only the operator may: put that into the file that --config names",
  });
}

function operatorKeysIn(files: SourceConfig["files"]): string {
  return canonical(files.map(({ operator }) => ({ ...operator })));
}

/** Refuses a configuration with errors. */
export function requireValidConfig(diagnostics: SourceConfig["diagnostics"]): void {
  if (!hasErrors(diagnostics)) return;
  const files = [...new Set(diagnostics.map(({ file }) => file))].join(", ");
  throw new HoldfastError("invalid", `the configuration is refused: ${files}`, {
    hint: "correct it; nothing was read or sent",
    diagnostics,
  });
}

// A plan file stored in the source is not part of it: writing a plan must not change the source that it was created from.
function plansOf({ flags, terminal: { cwd, outputFiles = [] } }: Invocation): readonly string[] {
  const { out, plan, output = [] } = flags;
  const named = [out, plan, plan && approvalsPath(plan), ...output.map(({ file }) => file)];
  return [
    ...outputFiles,
    ...named.flatMap((file) => (file === undefined || file === null ? [] : [resolve(cwd, file)])),
  ];
}
