import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { SealKey } from "./key.ts";
import { open, seal } from "./seal.ts";

/** The content of a sealed file; null when there is none, or it is not what was kept under this name with this key. */
export function readSealed(path: string, key: SealKey, name: string): Buffer | null {
  try {
    return open(key, readFileSync(path), name);
  } catch {
    return null;
  }
}

/**
 * Keeps what can be made anew in a file that only its owner can open. At no time is half of it there; where it cannot be
 * kept, or is lost in a crash, it is made anew.
 */
export function keepSealed(path: string, key: SealKey, name: string, content: string): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(fresh, seal(key, content, name), { mode: 0o600 });
    renameSync(fresh, path);
  } catch {
    rmSync(fresh, { force: true });
  }
}
