import { resolve } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { Invocation } from "../command.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import {
  canBeReadAgain,
  type FileFingerprint,
  fingerprintOf,
  type OperatorFile,
  textOrNothing,
} from "./read-operator-file.ts";

/** The configuration file, or a file that the configuration names. */
export type ConfiguredFile = {
  readonly path: string;
  readonly holds: "configuration" | "secret" | "certificates";
  /** Whether the file was empty when the configuration was opened. */
  readonly wasEmpty: boolean;
  /** The fingerprint taken before the file was read. */
  readonly state: FileFingerprint;
};

/** The polling interval; Kubernetes replaces volumes by swapping a link, which causes no file event. */
const POLL_MS = 500;

/** The configuration file of these targets and the files that it names. */
export function configuredFiles(
  targets: readonly CommandTarget[],
  { tokenFile, notifications = [], sources = [], dashboard }: OperatorConfig,
  operatorFile: OperatorFile,
  { flags, terminal: { cwd, env } }: Invocation,
): readonly ConfiguredFile[] {
  const choices = targets.flatMap(({ choice }) => choice ?? []);
  const followed = choices.flatMap(({ source }) => source ?? []);
  const secrets = [
    flags.tokenFile,
    tokenFile,
    env.HOLDFAST_UI_TOKEN_FILE,
    dashboard?.plansTokenFile,
    ...choices.flatMap(({ tokenFile: file, publish }) => [
      file,
      publish?.credentials.tokenFile,
      publish?.credentials.sshKeyFile,
    ]),
    ...followed.flatMap(({ credentials, webhookSecretFile }) => [
      credentials.tokenFile,
      credentials.sshKeyFile,
      webhookSecretFile,
    ]),
    ...notifications.flatMap((receiver) => [receiver.urlFile, receiver.tokenFile]),
    ...sources.map(({ commitStatus }) => commitStatus?.tokenFile),
  ];
  const authorities = [flags.caFile, ...choices.map(({ caFile }) => caFile), ...followed.map(({ caFile }) => caFile)];
  const pathsOf = (names: readonly (string | null | undefined)[]): ReadonlySet<string> =>
    new Set(names.flatMap((name) => (name ? resolve(cwd, name) : [])));
  const filesOf = (holds: ConfiguredFile["holds"], names: readonly (string | null | undefined)[]) =>
    [...pathsOf(names)].filter(canBeReadAgain).map((path) => ({
      path,
      holds,
      wasEmpty: textOrNothing(path) === "",
      state: fingerprintOf(path, null),
    }));
  return [
    ...filesOf("configuration", [flags.config]).map((file) => ({ ...file, state: operatorFile.state ?? file.state })),
    ...filesOf("secret", secrets),
    ...filesOf("certificates", authorities),
  ];
}

/** Refuses files that have become empty, and certificate files without a certificate. */
export function requireUsable(files: readonly ConfiguredFile[]): void {
  for (const { path, holds, wasEmpty } of files) {
    const content = textOrNothing(path);
    if (content.trim() === "" && !wasEmpty) throw new HoldfastError("invalid", `${path} is missing or empty`);
    if (holds === "certificates" && !content.includes("-----BEGIN CERTIFICATE-----"))
      throw new HoldfastError("invalid", `${path} holds no PEM certificate`);
  }
}

/** Calls `onChange` with the paths whose content has changed, with links followed, until the signal is aborted. */
export async function watchFiles(
  files: readonly ConfiguredFile[],
  onChange: (changed: readonly string[]) => Promise<void>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  if (files.length === 0) return;
  const states = new Map(files.map(({ path, state }) => [path, state]));
  try {
    for (;;) {
      await clock.sleep(POLL_MS, { signal, ref: false });
      const changed = files.flatMap(({ path }) => {
        const before = states.get(path) ?? null;
        const now = fingerprintOf(path, before);
        states.set(path, now);
        return before?.digest === now.digest ? [] : [path];
      });
      if (changed.length > 0) await onChange(changed);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
