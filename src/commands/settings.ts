import { resolve } from "node:path";
import type { HoldfastConfig } from "../contract/generated/config.ts";
import { HoldfastError } from "../core/errors.ts";
import type { IgnoreRule } from "../core/ignore.ts";
import type { SinkType } from "../engine/sink.ts";
import { sinks } from "../engine/sinks/index.ts";
import type { Log } from "../log/log.ts";
import type { DiagnosticView } from "../render/diagnostics.ts";
import { choosePaint, type Paint, plain } from "../render/paint.ts";
import { excerptReader } from "../source/excerpt.ts";
import type { Flags, Invocation } from "./command.ts";
import type { Terminal } from "./terminal.ts";
import { terminalLog } from "./terminal-log.ts";

/** Everything a command was told, by flag > environment > configuration > default. */
export type Settings = {
  readonly output: "text" | "json";
  readonly strict: boolean;
  readonly partial: boolean;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long a control plane may ask to wait. */
  readonly retryWaitMs: number;
  readonly rolloutTimeoutMs: number;
  readonly wait: boolean;
  readonly state: string;
  readonly caFile: string | null;
  readonly sink: SinkType | null;
  readonly registersModels: boolean;
  readonly ignore: readonly IgnoreRule[];
  readonly guards: { readonly shrinkFrom?: number; readonly shrinkShare?: number };
  readonly paint: Paint;
  readonly diagnosticView: DiagnosticView;
  readonly log: Log;
};

const ROLLOUT_TIMEOUT_MS = 10 * 60 * 1000;

/** Resolves the settings; `config` holds the repository's keys and those of the operator's that count here. */
export function resolveSettings({ flags, terminal }: Invocation, config: HoldfastConfig, root: string): Settings {
  const paint = choosePaint(terminal.stdout, terminal.env, { noColor: flags.color === false });
  return {
    output: flags.output ?? "text",
    strict: flags.strict ?? false,
    partial: flags.partial ?? false,
    concurrency: flags.concurrency ?? config.concurrency ?? 16,
    requestTimeoutMs: milliseconds(flags.requestTimeout ?? config.requestTimeout) ?? 30_000,
    connectTimeoutMs: milliseconds(flags.connectTimeout) ?? 10_000,
    retryWaitMs: milliseconds(flags.retryWait) ?? 60_000,
    rolloutTimeoutMs: ROLLOUT_TIMEOUT_MS,
    wait: flags.wait ?? true,
    state: stateFolder(flags, config, terminal, root),
    caFile: flags.caFile === undefined ? null : resolve(terminal.cwd, flags.caFile),
    sink: chosenSink(flags.sink === undefined ? (config.sinks ?? []) : [flags.sink]),
    registersModels: config.modelVersionWrite === "post",
    ignore: (config.ignore ?? []).map(ignoreRule),
    guards: guardsOf(config),
    paint,
    // Lines of the files are for a person to look at; logs and machines get the place alone.
    diagnosticView: { paint, excerptOf: paint === plain ? () => null : excerptReader(terminal.cwd) },
    log: terminalLog({ flags, terminal }),
  };
}

function stateFolder(flags: Flags, config: HoldfastConfig, { cwd }: Terminal, root: string): string {
  if (flags.state !== undefined) return resolve(cwd, flags.state);
  return resolve(root, config.state ?? ".holdfast");
}

// The first one that is named; a misspelt one must not leave tokens with none.
function chosenSink(names: readonly string[]): SinkType | null {
  const chosen = names.map((name) => {
    const sink = sinks.find((one) => one.name === name);
    if (sink !== undefined) return sink;
    const known = sinks.map((one) => one.name).join(", ");
    throw new HoldfastError("invalid", `sinks: there is no sink ${name}`, { hint: `name one of these: ${known}` });
  });
  return chosen[0] ?? null;
}

function ignoreRule(rule: NonNullable<HoldfastConfig["ignore"]>[number]): IgnoreRule {
  const { path, match, reason, owner, expires } = rule;
  return { path, match, reason, ...(owner ? { owner } : {}), ...(expires ? { expires } : {}) };
}

function guardsOf({ guards }: HoldfastConfig): Settings["guards"] {
  return {
    ...(guards?.shrinkFrom ? { shrinkFrom: guards.shrinkFrom } : {}),
    ...(typeof guards?.shrinkShare === "number" ? { shrinkShare: guards.shrinkShare } : {}),
  };
}

function milliseconds(seconds: number | null | undefined): number | null {
  return seconds === null || seconds === undefined ? null : seconds * 1000;
}
