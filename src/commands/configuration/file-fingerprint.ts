import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

/** What is known of a file, so that a change of it is found. */
export type FileFingerprint = { readonly stamp: string; readonly digest: string };

/** How a file is now, wherever links lead; read only where it may have changed since. */
export function fingerprintOf(path: string, before: FileFingerprint | null): FileFingerprint {
  const { mtimeMs = 0, size = 0, ino = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  const stamp = `${mtimeMs} ${size} ${ino}`;
  if (before?.stamp === stamp) return before;
  return { stamp, digest: createHash("sha256").update(textOrNothing(path)).digest("hex") };
}

/** Whether a file can be read again: what comes out of a pipe comes once. */
export function canBeReadAgain(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** The text of a file; nothing where it cannot be read. */
export function textOrNothing(path: string): string {
  try {
    return canBeReadAgain(path) ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
