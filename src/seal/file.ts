import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { SealKey } from "./key.ts";
import { open, seal } from "./seal.ts";

/** The content of a sealed file; null when there is none, or it is not what was sealed under this name with this key. */
export function readSealed(path: string, key: SealKey, name: string): Buffer | null {
  try {
    return open(key, readFileSync(path), name);
  } catch {
    return null;
  }
}

/** Replaces a file that can be made anew: at no time is half of it there, and a crash may lose it. */
export function writeSealed(path: string, key: SealKey, name: string, content: string): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    writeFileSync(fresh, seal(key, content, name), { mode: 0o600 });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
