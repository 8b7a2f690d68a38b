import { basename } from "node:path";
import { formatOf } from "../yaml/document.ts";
import { ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { isManifestFile } from "./ignore-files.ts";
import { defaultLimits } from "./limits.ts";
import { type Pace, pacer } from "./pacer.ts";
import { fileStatus, readRegularFile } from "./read-regular-file.ts";
import { CONFIG_NAME } from "./source-root.ts";

/**
 * Whether a manifest or configuration file was last written in place, so that it may be incomplete. A rename, like any
 * change of the inode alone, moves the change time and leaves the modification time.
 */
export function isWrittenInPlace(path: string): boolean {
  const name = basename(path);
  if (!isManifestFile(name) && name !== CONFIG_NAME) return false;
  const stat = fileStatus(path);
  return stat?.isFile() === true && stat.ctimeMs <= stat.mtimeMs;
}

/** Whether a text that cannot be parsed is meant as a manifest. */
export type IsMeant = (text: string) => boolean;

/** Whether every manifest file parses; one that is gone, too large to be read, or not meant as a manifest does. */
export async function everyFileParses(paths: readonly string[], isMeant: IsMeant, pace: Pace): Promise<boolean> {
  const pause = pacer(pace);
  await using exact = new ExactProcess();
  // A configuration that does not parse is never applied: the last applied revision stays.
  for (const path of paths.filter((each) => isManifestFile(basename(each)))) {
    if (!(await parses(path, isMeant, exact))) return false;
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return true;
}

async function parses(path: string, isMeant: IsMeant, exact: ExactProcess): Promise<boolean> {
  const opened = readRegularFile(path, defaultLimits.fileBytes);
  if (opened.is !== "read" || opened.size > opened.bytes.length) return true;
  const format = formatOf(basename(path)) ?? "yaml";
  const { text, faults, documents } = await readYaml(
    opened.bytes,
    { format, limits: defaultLimits, worthy: null },
    exact,
  );
  const isWhole = faults.length === 0 && documents.every(({ value, faults: found }) => value !== null || !found.length);
  return isWhole || !isMeant(text);
}
