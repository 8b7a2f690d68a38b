import { printable } from "./escape.ts";

/** A word of a command as a shell reads it, with unprintable characters written out. */
export function shellWord(word: string): string {
  const shown = printable(word);
  return /^[\w@%+=:,./~-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
