import { resolve } from "node:path";
import { type ConfigFile, readConfig } from "../../source/read-config.ts";
import { findRoot } from "../../source/source-root.ts";
import type { Invocation } from "../command.ts";
import { type FileFingerprint, fingerprintOf } from "./file-fingerprint.ts";

/** The operator's configuration file that `--config` names. */
export type OperatorFile = {
  /** Undefined if there is none outside the source. */
  readonly config: ConfigFile | undefined;
  /** The fingerprint taken before the file was read, so that a later change is detected. */
  readonly state: FileFingerprint | null;
};

/** Reads the operator's configuration file. */
export async function readOperatorFile({ flags, terminal: { cwd } }: Invocation): Promise<OperatorFile> {
  if (flags.config === undefined) return { config: undefined, state: null };
  const state = fingerprintOf(resolve(cwd, flags.config), null);
  const config = await readConfig({ root: findRoot({ cwd, source: flags.source }), cwd, file: flags.config });
  return { config: config.isInSource ? undefined : config, state };
}
