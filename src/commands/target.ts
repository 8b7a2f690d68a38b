import { resolve } from "node:path";
import { canonical } from "../contract/json.ts";
import { hasErrors } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Target } from "../engine/target.ts";
import { realPathOutside } from "../files/real-path.ts";
import { contentTop, findRoot } from "../source/root.ts";
import { type Base, readSourceConfig, type SourceConfig } from "../source/source-config.ts";
import { buildOf } from "./build.ts";
import { usesCaches } from "./cache-choice.ts";
import type { Invocation } from "./command.ts";
import type { ServerUse } from "./connection.ts";
import { connector } from "./connector.ts";
import { honouredOperatorKeys } from "./operator-keys.ts";
import { rulesOf } from "./rules.ts";
import { readStateKey } from "./state-key.ts";
import { warnNotRemembered } from "./warn-not-remembered.ts";

/** What a command does with its target. */
export type TargetUse = Omit<ServerUse, "operator"> & {
  /** What `--base` names: a commit to compare with, or one that is read in the folder's place. @default "compare" */
  readonly base?: Base["use"];
  /** Whether a broken configuration is reported with everything else, and not refused. @default false */
  readonly reportsConfig?: boolean;
};

/** Finds the target of a command; its server is connected, and its state opened, when a pass first needs them. */
export async function openTarget(invocation: Invocation, use: TargetUse): Promise<Target & AsyncDisposable> {
  const { flags, terminal } = invocation;
  const { cwd, stopping: signal } = terminal;
  const root = findRoot({ cwd, source: flags.source });
  const base = flags.base === undefined ? null : { ref: flags.base, use: use.base ?? "compare" };
  const source = { root, cwd, configFile: flags.config, base };
  // Server and state are chosen by the files that are here, whatever commit is read.
  const config = await readSourceConfig({ ...source, base: null, repository: null }, { signal });
  if (!use.reportsConfig) requireValidConfig(config);
  const operator = await honouredOperatorKeys(config.files, { root, mayAsk: !use.unattended }, terminal);
  const named = flags.state === undefined ? resolve(root, operator.state ?? ".holdfast") : resolve(cwd, flags.state);
  const state = {
    folder: realPathOutside(contentTop(root), named),
    readKey: () => readStateKey(terminal),
    build: () => buildOf(terminal.program),
    onForgotten: warnNotRemembered(terminal),
    caches: usesCaches(terminal),
  };
  const server = connector(invocation, state, { ...use, operator });
  return {
    source: { ...source, config, ignore: plansOf(invocation), accept: acceptor(config, use) },
    server,
    state,
    rules: rulesOf(invocation, root),
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  };
}

// Server and state were chosen by the operator keys that there were at first.
function acceptor(first: SourceConfig, { reportsConfig }: TargetUse): (config: SourceConfig) => void {
  const accepted = operatorKeysIn(first);
  return (config) => {
    if (!reportsConfig) requireValidConfig(config);
    if (operatorKeysIn(config) === accepted) return;
    const files = config.files.flatMap(({ file }) => file ?? []).join(", ");
    throw new HoldfastError("invalid", `the operator keys in ${files || "the configuration"} have changed`, {
      hint: "take that back, or start again: they hold for as long as a command runs",
    });
  };
}

function operatorKeysIn({ files }: SourceConfig): string {
  return canonical(files.map(({ operator }) => ({ ...operator })));
}

function requireValidConfig({ diagnostics }: SourceConfig): void {
  if (!hasErrors(diagnostics)) return;
  const files = [...new Set(diagnostics.map(({ file }) => file))].join(", ");
  throw new HoldfastError("invalid", `the configuration is refused: ${files}`, {
    hint: "correct it; nothing was read or sent",
    diagnostics,
  });
}

// A plan file inside the source is not part of it: writing one must not change the source.
function plansOf({ flags: { out, plan }, terminal: { cwd } }: Invocation): readonly string[] {
  return [out, plan].flatMap((file) => (file === undefined ? [] : [resolve(cwd, file)]));
}
