import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readGivenText } from "../../files/read-given-file.ts";

/** The stamp and digest of a file, used to detect changes. */
export type FileFingerprint = { readonly stamp: string; readonly digest: string };

/** The current fingerprint of a file, with links followed; the file is read only if its stamp has changed. */
export function fingerprintOf(path: string, before: FileFingerprint | null): FileFingerprint {
  const { mtimeMs = 0, size = 0, ino = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  const stamp = `${mtimeMs} ${size} ${ino}`;
  if (before?.stamp === stamp) return before;
  return { stamp, digest: createHash("sha256").update(textOrNothing(path)).digest("hex") };
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
