import { resolve } from "node:path";
import { type ConfigFile, readConfig } from "../../source/read-config.ts";
import { findRoot } from "../../source/source-root.ts";
import type { Invocation } from "../command.ts";
import { type FileFingerprint, fingerprintOf } from "./file-fingerprint.ts";

/** The operator's own file that `--config` names. */
export type OperatorFile = {
  /** Undefined where there is none outside of the source. */
  readonly config: ConfigFile | undefined;
  /** What it was before it was read: a change since then is seen. */
  readonly state: FileFingerprint | null;
};

/** Reads the operator's own file. */
export async function readOperatorFile({ flags, terminal: { cwd } }: Invocation): Promise<OperatorFile> {
  if (flags.config === undefined) return { config: undefined, state: null };
  const state = fingerprintOf(resolve(cwd, flags.config), null);
  const config = await readConfig({ root: findRoot({ cwd, source: flags.source }), cwd, file: flags.config });
  return { config: config.isInSource ? undefined : config, state };
}
