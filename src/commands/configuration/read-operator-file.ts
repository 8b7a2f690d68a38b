import { statSync } from "node:fs";
import { resolve } from "node:path";
import { contentDigest } from "../../contract/content-digest.ts";
import { readGivenText } from "../../files/read-given-file.ts";
import { type ConfigFile, readConfig } from "../../source/read-config.ts";
import { findRoot } from "../../source/source-root.ts";
import type { Invocation } from "../command.ts";

/** The operator's configuration file that `--config` names. */
export type OperatorFile = {
  /** Undefined if there is none outside the source. */
  readonly config: ConfigFile | undefined;
  /** The fingerprint taken before the file was read, so that a later change is detected. */
  readonly state: FileFingerprint | null;
};

/** The stamp and digest of a file, used to detect changes. */
export type FileFingerprint = { readonly stamp: string; readonly digest: string };

/** Reads the operator's configuration file. */
export async function readOperatorFile({ flags, terminal: { cwd } }: Invocation): Promise<OperatorFile> {
  if (flags.config === undefined) return { config: undefined, state: null };
  const state = fingerprintOf(resolve(cwd, flags.config), null);
  const config = await readConfig({ root: findRoot({ cwd, source: flags.source }), cwd, file: flags.config });
  return { config: config.isInSource ? undefined : config, state };
}

/** The current fingerprint of a file, with links followed; the file is read only if its stamp has changed. */
export function fingerprintOf(path: string, before: FileFingerprint | null): FileFingerprint {
  const { mtimeMs = 0, size = 0, ino = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  const stamp = `${mtimeMs} ${size} ${ino}`;
  if (before?.stamp === stamp) return before;
  return { stamp, digest: contentDigest(textOrNothing(path)) };
}

/** Whether a file can be read again; a pipe can be read only once. */
export function canBeReadAgain(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** The text of a file; empty if it cannot be read. */
export function textOrNothing(path: string): string {
  try {
    return canBeReadAgain(path) ? readGivenText(path) : "";
  } catch {
    return "";
  }
}
